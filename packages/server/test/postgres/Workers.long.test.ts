import { once } from "node:events"
import { Agent, request } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { connect } from "node:tls"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll, assert } from "vitest"
import { parseExposition, valueOf } from "../observability/Exposition.js"
import { certificateFolder, hasOpenssl, installCertificate, makeCertificate } from "../support/Certificates.js"
import { freshDatabase, onServer } from "../support/postgres/Databases.js"
import { type Answer, cleanUp, type Json, parseRaw, Program, type Variables } from "../support/Program.js"
import { Load, prepare } from "./faults/Load.js"

afterAll(cleanUp)

const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await sleep(20)
}

/** A server with three workers on a database of its own. */
const started = (variables: Variables = {}) =>
  Effect.gen(function* () {
    const { name, url } = yield* freshDatabase()
    const settings = {
      SERVICE_DATABASE_URL: url,
      SERVICE_WORKERS: "3",
      SUPERADMIN_EMAIL_0: "root@example.com",
      ...variables
    }
    const program = yield* Effect.acquireRelease(
      Effect.promise(() => Program.start(settings)),
      (running) => Effect.promise(() => running.remove())
    )
    const rows = (statement: string): Promise<ReadonlyArray<Json>> =>
      Effect.runPromise(onServer(name, async (client) => (await client.query(statement)).rows))
    return { program, rows, settings, url } as const
  })

const metric = async (program: Program, name: string, labels: Readonly<Record<string, string>>): Promise<number> => {
  const [, page = ""] = await program.said(/metrics are at (http:\/\/[\d.:]+\/metrics)/)
  return valueOf(parseExposition(await (await fetch(page)).text()), name, labels) ?? 0
}

/** The lines of the log as JSON: each is whole, though several processes write them. */
const linesOf = ({ log }: Program): ReadonlyArray<Json> =>
  log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Json => JSON.parse(line))

/** The processes of the workers, by the heartbeats of the database. */
const workerPids = async (program: Program, rows: (statement: string) => Promise<ReadonlyArray<Json>>) =>
  (await rows("SELECT pid FROM instances ORDER BY started_at"))
    .map(({ pid }): number => pid)
    .filter((pid) => pid !== program.pid)

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("a server with three workers", () => {
  it.live("serves on all of them, with one log, one page of metrics and one heartbeat each", () =>
    Effect.gen(function* () {
      const { program, rows } = yield* started({ SERVICE_METRICS_PORT: "0" })
      yield* Effect.promise(async () => {
        assert.match(program.log, /workers on \(3 processes serve\)/)
        assert.lengthOf([...program.log.matchAll(/listening on http/g)], 1)
        assert.lengthOf(await workerPids(program, rows), 3)

        const token = await program.login("root@example.com")
        const answers = await Promise.all(
          Array.from({ length: 60 }, () => program.call("GET", "/api/auth/me", { token }))
        )
        assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
        const labels = { method: "GET", route: "/api/auth/me", status: "200" }
        assert.strictEqual(await metric(program, "coffer_http_requests_total", labels), 60)
        await until(() => linesOf(program).filter(({ route }) => route === "/api/auth/me").length === 60)
        const served = linesOf(program).filter(({ route }) => route === "/api/auth/me")
        const shares = [1, 2, 3].map((number) => served.filter(({ worker }) => worker === number).length)
        for (const share of shares) assert.isAtLeast(share, 5, String(shares))

        const limit = 16 * 1024 * 1024
        const [begin, end] = ['{"set":{"A":"1"}', "}"]
        const whole = await program.call("PATCH", "/api/orgs/acme/projects/webshop/envs/prod/bundle", {
          token: await prepare(program),
          raw: begin.padEnd(limit - end.length) + end
        })
        assert.strictEqual(whole.status, 200, whole.text)

        const ready = await program.call("GET", "/health/ready")
        assert.strictEqual(ready.status, 200, ready.text)
        const { body } = await program.call("GET", "/api/server/settings", { token })
        const shown = (body.data as ReadonlyArray<Json>).find(({ variable }) => variable === "SERVICE_WORKERS")
        assert.deepStrictEqual(shown, {
          variable: "SERVICE_WORKERS",
          value: "3",
          source: "SERVICE_WORKERS",
          group: "Listening"
        })

        assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })
        assert.deepStrictEqual(await rows("SELECT pid FROM instances"), [])
      })
    }).pipe(Effect.scoped)
  )

  it.live("counts attempts exactly, on whichever worker they come", () =>
    Effect.gen(function* () {
      const { program } = yield* started({ SERVICE_PUBLIC_URL: "http://127.0.0.1" })
      yield* Effect.promise(async () => {
        const limit = 30
        const attempts: Array<Answer> = []
        for (let round = 0; round < 5; round++) {
          const some = Array.from({ length: 8 }, () =>
            program.call("POST", "/api/auth/device", {
              body: { machine: "build-box" },
              headers: { "x-real-ip": "203.0.113.9" }
            })
          )
          attempts.push(...(await Promise.all(some)))
        }
        const refused = attempts.filter(({ status }) => status === 429)
        const taken = attempts.filter(({ status }) => status === 200)
        assert.lengthOf(taken, limit, attempts.at(-1)?.text)
        assert.lengthOf(refused, attempts.length - limit)
      })
    }).pipe(Effect.scoped)
  )

  it.live("goes on when a worker is killed under load: nothing that was acknowledged is lost", () =>
    Effect.gen(function* () {
      const { program, rows, url } = yield* started({ SERVICE_METRICS_PORT: "0" })
      yield* Effect.promise(async () => {
        const load = new Load([program, program, program], await prepare(program))
        load.start()
        await sleep(500)
        const total = async () => {
          const [, page = ""] = await program.said(/metrics are at (http:\/\/[\d.:]+\/metrics)/)
          return parseExposition(await (await fetch(page)).text())
            .filter(({ name }) => name === "coffer_http_requests_total")
            .reduce((sum, { value }) => sum + value, 0)
        }
        const killed: Array<number> = []
        for (let round = 1; round <= 2; round++) {
          const [pid = 0] = await workerPids(program, rows)
          killed.push(pid)
          const before = await total()
          process.kill(pid, "SIGKILL")
          await program.said(
            new RegExp(`worker \\d \\(process ${pid}\\) was killed by SIGKILL: another one is started`)
          )
          assert.isAtLeast(await total(), before, "no counter falls")
          await program.said(/worker \d serves again, as process \d+/, round)
          await program.said(new RegExp(`the server with process ${pid} on \\S+ was killed after`))
          assert.lengthOf(await workerPids(program, rows), 3)
        }
        await load.recovery()
        await load.stop()
        await load.check(program, url)
        assert.isAbove(load.count("done"), 20)
        const token = await program.login("root@example.com")
        const { body } = await program.call("GET", "/api/audit-logs?action=audit.missing", { token })
        const missing = (body.data as ReadonlyArray<Json>).map(({ metadata }): number => metadata.pid)
        assert.sameMembers([...missing], killed)
      })
    }).pipe(Effect.scoped)
  )

  it.live("at SIGTERM to all of its processes answers what was accepted, and what is in flight", () =>
    Effect.gen(function* () {
      const { program, rows } = yield* started()
      yield* Effect.promise(async () => {
        const pids = await workerPids(program, rows)
        const health = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
        const old = program.dial()
        old.write(health)
        await old.heard(/\{"status":"ok"\}$/)
        const agent = new Agent({ keepAlive: true })
        const body = request({ port: program.port, path: "/api/auth/login", method: "POST", agent })
        body.setHeader("content-type", "application/json")
        body.write('{"email":')
        await sleep(200)
        program.signal("SIGSTOP")
        const dialogues = Array.from({ length: 30 }, () => program.dial())
        await Promise.all(dialogues.map(({ connected }) => connected))
        for (const dialogue of dialogues) dialogue.write(health)
        // As systemd does, and a terminal.
        for (const pid of [...pids, program.pid]) process.kill(pid, "SIGTERM")
        program.signal("SIGCONT")
        await Promise.all(dialogues.map(({ closed }) => closed))
        for (const { received } of dialogues) assert.strictEqual(parseRaw(received).status, 200, received)
        await old.closed
        const answered = once(body, "response")
        body.end('"grace@example.com"}')
        const [response] = await answered
        assert.strictEqual(response.statusCode, 200)
        response.resume()
        assert.deepStrictEqual(await program.ended, { code: 0, signal: null })
        for (const pid of pids) assert.isFalse(isRunning(pid), String(pid))
        assert.deepStrictEqual(await rows("SELECT pid FROM instances"), [])
      })
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!hasOpenssl)("speaks TLS on all of them, with the certificate that the main process renews", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const [first, second] = [makeCertificate(folder, "first"), makeCertificate(folder, "second")]
      const { program } = yield* started({
        SERVICE_TLS_CERT_FILE: first.certFile,
        SERVICE_TLS_KEY_FILE: first.keyFile
      })
      const fingerprint = async (): Promise<string> => {
        const socket = connect({ port: program.port, host: "127.0.0.1", ca: [first.pem, second.pem] })
        await once(socket, "secureConnect")
        const found = socket.getPeerX509Certificate()?.fingerprint256 ?? ""
        socket.write("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert.match(await text(socket), /^HTTP\/1\.1 200 OK[^]*strict-transport-security/i)
        return found
      }
      const fingerprints = () => Promise.all(Array.from({ length: 9 }, fingerprint))
      yield* Effect.promise(async () => {
        assert.deepStrictEqual([...new Set(await fingerprints())], [first.fingerprint])
        installCertificate(second, first)
        await program.said(/the certificate was replaced/)
        await until(async () => (await fingerprints()).every((found) => found === second.fingerprint))
        assert.lengthOf([...program.log.matchAll(/the certificate was replaced/g)], 1)
      })
    }).pipe(Effect.scoped)
  )

  it.live("ends with its main process, however that ends", () =>
    Effect.gen(function* () {
      const { program, rows } = yield* started()
      yield* Effect.promise(async () => {
        const pids = await workerPids(program, rows)
        await program.stop("SIGKILL")
        await until(() => pids.every((pid) => !isRunning(pid)))
        // They ended in order: only the main process did not.
        assert.deepStrictEqual(await rows("SELECT pid FROM instances"), [{ pid: program.pid }])
      })
    }).pipe(Effect.scoped)
  )

  it.live("that cannot start says why once", () =>
    Effect.gen(function* () {
      const { program, settings } = yield* started()
      yield* Effect.promise(async () => {
        const wrongKey = await Program.refused({ ...settings, SERVICE_MASTER_KEY: "9".repeat(64) })
        assert.strictEqual(wrongKey.code, 1)
        assert.lengthOf([...wrongKey.log.matchAll(/SERVICE_MASTER_KEY does not open this database/g)], 1)
        const taken = await Program.refused({ ...settings, SERVICE_PORT: String(program.port) })
        assert.strictEqual(taken.code, 1)
        assert.lengthOf([...taken.log.matchAll(/cannot listen on 127\.0\.0\.1:\d+/g)], 1, taken.log)
        const smallPool = await Program.refused({ ...settings, SERVICE_DATABASE_POOL: "7" })
        assert.strictEqual(smallPool.code, 78)
        assert.lengthOf([...smallPool.log.matchAll(/SERVICE_DATABASE_POOL must be at least 8/g)], 1)
      })
    }).pipe(Effect.scoped)
  )
})
