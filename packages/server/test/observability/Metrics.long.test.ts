import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Api } from "@coffer/domain/Api"
import { HttpApi } from "@effect/platform"
import Sqlite from "better-sqlite3"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { freshSettings, keysBelow, readObject, writeObject } from "../backups/Endpoint.js"
import { cleanUp, type Json, Program } from "../support/Program.js"
import { parseExposition, type Sample, valueOf } from "./Exposition.js"

const secret = "/api/orgs/acme/projects/webshop/envs/dev/secrets/KEY"
const secretRoute = "/api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key"

let program: Program
let page: string
let token: string

const scrapePage = async (): Promise<string> => {
  const response = await fetch(page)
  assert.strictEqual(response.status, 200)
  assert.strictEqual(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
  return response.text()
}

const scrape = async (): Promise<ReadonlyArray<Sample>> => parseExposition(await scrapePage())

const value = async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> =>
  valueOf(await scrape(), name, labels) ?? 0

const metricsOf = async (started: Program): Promise<string> =>
  (await started.said(/metrics are at (http:\/\/127\.0\.0\.1:\d+\/metrics)/))[1] ?? ""

const settings = freshSettings()

beforeAll(async () => {
  program = await Program.start({
    ...settings,
    SUPERADMIN_EMAIL_0: "root@example.com",
    SERVICE_METRICS_PORT: "0"
  })
  page = await metricsOf(program)
  token = await program.login("root@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
})

afterAll(cleanUp)

describe("the metrics", () => {
  it("count requests by the route's pattern, method and status, and how long they took", async () => {
    const put = { method: "PUT", route: secretRoute }
    assert.strictEqual(await value("coffer_http_requests_total", put), 0)
    for (const body of [{ value: "1" }, { value: "2" }, { value: 3 }])
      await program.call("PUT", secret, { token, body })
    const samples = await scrape()
    assert.strictEqual(valueOf(samples, "coffer_http_requests_total", { ...put, status: "200" }), 2)
    assert.strictEqual(valueOf(samples, "coffer_http_requests_total", { ...put, status: "400" }), 1)
    assert.strictEqual(valueOf(samples, "coffer_http_request_duration_seconds_count", put), 3)
    assert.strictEqual(valueOf(samples, "coffer_http_request_duration_seconds_bucket", { ...put, le: "+Inf" }), 3)
    const sum = valueOf(samples, "coffer_http_request_duration_seconds_sum", put) ?? 0
    assert.isTrue(sum > 0.0005 && sum < 10, String(sum))
  })

  it("have no label that a stranger or a tenant can make more of, nor one that names a tenant", async () => {
    const routes = new Set(["none"])
    HttpApi.reflect(Api, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => {
        routes.add(endpoint.path)
      }
    })
    const strange = async (word: string) => {
      for (const method of ["GET", "POST", "PROPFIND", "MKCOL"]) await program.call(method, `/${word}?${word}=${word}`)
      await program.call("GET", `/api/orgs/${word}/projects/${word}`, { token })
      await program.call("GET", `/api/orgs/${word}`, { headers: { "x-real-ip": "192.0.2.1", "x-api-key": word } })
    }
    await strange("stranger")
    const before = await scrape()
    for (const word of ["second", "third", "fourth"]) await strange(word)
    const after = await scrape()
    const series = (samples: ReadonlyArray<Sample>) =>
      samples.flatMap(({ labels, name }) => (name.startsWith("coffer_") ? [`${name} ${JSON.stringify(labels)}`] : []))
    assert.deepStrictEqual(series(after), series(before))
    for (const { labels, name } of after) {
      if (!name.startsWith("coffer_")) continue
      const { le, method, name: job, outcome, reason, result, route, state, status, ...rest } = labels
      assert.deepStrictEqual(rest, {})
      if (le !== undefined) assert.match(le, /^([\d.]+|\+Inf)$/)
      if (job !== undefined)
        assert.include(
          [
            "tidy",
            "heads",
            "wraps",
            "backup",
            "stream",
            "archive",
            "rotations",
            "leases",
            "pushes",
            "unused",
            "webhooks",
            "expiry",
            "due",
            "trash"
          ],
          job
        )
      if (outcome !== undefined) assert.include(["done", "failed", "released", "lost", "left", "removed"], outcome)
      if (state !== undefined) assert.include(["used", "idle", "waiting", "due", "overdue"], state)
      if (reason !== undefined) assert.match(reason, /^[a-z_]+$/)
      if (result !== undefined) assert.include(["delivered", "failed", "disabled"], result)
      if (route !== undefined) assert.isTrue(routes.has(route), route)
      if (status !== undefined) assert.match(status, /^\d{3}$/)
      if (method !== undefined) assert.include(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "other"], method)
    }
    const text = await scrapePage()
    for (const word of ["acme", "webshop", "KEY", "root", "example", "stranger", "192.0.2.1"])
      assert.notInclude(text, word)
  })

  it("count failed logins and lockouts, over all addresses", async () => {
    assert.strictEqual(await value("coffer_login_failures_total"), 0)
    for (let failure = 1; failure <= 10; failure++) await program.verify("eve@example.com", "000000")
    assert.strictEqual((await program.verify("eve@example.com", "000000")).status, 429)
    await program.verify("mallory@example.com", "000000")
    assert.strictEqual(await value("coffer_login_failures_total"), 11)
    assert.strictEqual(await value("coffer_login_lockouts_total"), 1)
    assert.strictEqual(await value("coffer_login_refusals_total"), 1)
    for (let request = 1; request <= 7; request++) {
      await program.call("POST", "/api/auth/login", { body: { email: "often@example.com" } })
    }
    assert.strictEqual(await value("coffer_login_refusals_total"), 3)
  })

  it("count the runs of jobs, by name and outcome", async () => {
    const runs = (name: string, outcome: string) => value("coffer_job_runs_total", { name, outcome })
    for (const job of ["tidy", "heads", "wraps"]) {
      while ((await runs(job, "done")) === 0) await new Promise((resolve) => setTimeout(resolve, 20))
      assert.deepStrictEqual([await runs(job, "done"), await runs(job, "failed"), await runs(job, "lost")], [1, 0, 0])
    }
  })

  it("show how deep the audit queue is", async () => {
    const depth = () => value("coffer_audit_queue_depth")
    let deepest = 0
    while (deepest === 0) {
      const [first, ...reads] = Array.from({ length: 20 }, () => program.call("GET", secret, { token }))
      await first
      deepest = await depth()
      await Promise.all(reads)
    }
    assert.isAbove(deepest, 0)
    while ((await depth()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  })

  it("tell the age of the newest backup and how the last one ended", async () => {
    const before = await scrape()
    assert.isUndefined(valueOf(before, "coffer_backup_age_seconds"))
    assert.isUndefined(valueOf(before, "coffer_backup_last_result"))
    assert.strictEqual((await program.call("POST", "/api/backups", { token })).status, 201)
    const after = await scrape()
    assert.strictEqual(valueOf(after, "coffer_backups_total"), 1)
    assert.strictEqual(valueOf(after, "coffer_backup_last_result"), 1)
    const age = valueOf(after, "coffer_backup_age_seconds") ?? -1
    assert.isTrue(age > 0 && age < 60, String(age))
    while ((await value("coffer_backup_age_seconds")) <= age) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })

  it("tell when a drill found a good backup last, how the last one ended and how long it took", async () => {
    const names = ["timestamp_seconds", "last_result", "duration_seconds"].map((name) => `coffer_backup_drill_${name}`)
    const drilled = async () => {
      const samples = await scrape()
      return names.map((name) => valueOf(samples, name))
    }
    assert.deepStrictEqual(await drilled(), [undefined, undefined, undefined])
    const { id } = (await program.call("POST", "/api/backups", { token })).body
    const before = Date.now() / 1000
    const drill = () => program.call("POST", "/api/backups/drill", { token, body: { backup_id: id } })
    const good = (await drill()).body
    assert.isTrue(good.valid)
    const [time = 0, result, seconds] = await drilled()
    assert.isTrue(time >= before - 0.001 && time <= Date.now() / 1000, String(time))
    assert.deepStrictEqual([result, seconds], [1, good.seconds])

    const [object = ""] = (await keysBelow(settings.BACKUP_S3_PREFIX)).filter((name) => name.includes(id))
    const bytes = await readObject(object)
    bytes[5000] = (bytes[5000] ?? 0) ^ 1
    await writeObject(object, bytes)
    const damaged = (await drill()).body
    assert.isFalse(damaged.valid)
    assert.deepStrictEqual(await drilled(), [time, 0, damaged.seconds], "the last good one stays")
  })

  it("tell the sizes of the database and its write-ahead log", async () => {
    const wal = await value("coffer_database_wal_size_bytes")
    const size = await value("coffer_database_size_bytes")
    assert.strictEqual(size, readFileSync(program.file()).length)
    const values = Array.from({ length: 20 }, (_, at): [string, string] => [`BIG_${at}`, "x".repeat(60_000)])
    const bundle = "/api/orgs/acme/projects/webshop/envs/dev/bundle"
    await program.call("PATCH", bundle, { token, body: { set: Object.fromEntries(values) } })
    assert.isAbove(
      (await value("coffer_database_wal_size_bytes")) + (await value("coffer_database_size_bytes")),
      wal + size
    )
  })

  it("show the delay of the event loop, memory and descriptors", async () => {
    const samples = await scrape()
    for (const name of [
      "nodejs_eventloop_lag_seconds",
      "nodejs_eventloop_lag_p99_seconds",
      "nodejs_eventloop_lag_max_seconds",
      "nodejs_heap_size_used_bytes",
      "process_resident_memory_bytes",
      "process_open_fds",
      "process_cpu_seconds_total"
    ]) {
      assert.isAtLeast(valueOf(samples, name) ?? -1, 0, name)
    }
  })

  it("count audit entries that could not be written", async () => {
    const database = new Sqlite(program.file())
    database.exec("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'broken'); END")
    const broken = await program.call("PUT", secret, { token, body: { value: "unaudited" } })
    database.exec("DROP TRIGGER broken")
    database.close()
    assert.strictEqual(broken.status, 200)
    assert.strictEqual(await value("coffer_audit_write_failures_total"), 1)
  })

  it("are served on the loopback interface alone, and nothing else is", async () => {
    const { origin, port } = new URL(page)
    const hex = Number(port).toString(16).toUpperCase().padStart(4, "0")
    const listening = readFileSync("/proc/net/tcp", "utf8") + readFileSync("/proc/net/tcp6", "utf8")
    const sockets = [...listening.matchAll(/^ *\d+: ([0-9A-F]+:[0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A /gm)]
    assert.deepStrictEqual(
      sockets.flatMap(([, local = ""]) => (local.endsWith(`:${hex}`) ? [local] : [])),
      [`0100007F:${hex}`]
    )
    for (const path of ["/", "/health", "/api/orgs", "/metrics/", "//metrics"]) {
      assert.strictEqual((await fetch(origin + path)).status, 404, path)
    }
    assert.strictEqual((await fetch(page, { method: "POST" })).status, 404)
    assert.strictEqual((await program.call("GET", "/metrics")).status, 404)
  })
})

describe("the documentation", () => {
  const root = new URL("../../../../", import.meta.url)
  const documented = readFileSync(new URL("docs/metrics.md", root), "utf8")
  const alarms = fileURLToPath(new URL("deploy/alerts.yaml", root))
  const rules: ReadonlyArray<Json> = parse(readFileSync(alarms, "utf8")).groups.flatMap(({ rules }: Json) => rules)
  const board: Json = JSON.parse(readFileSync(new URL("deploy/grafana.json", root), "utf8"))
  const queries: ReadonlyArray<string> = board.panels.flatMap(({ targets }: Json) =>
    targets.map(({ expr }: Json) => expr)
  )
  const namesIn = (text: string) => [...new Set(text.match(/\b(coffer|nodejs|process)_[a-z0-9_]+/g))]

  it("tells of each metric of this program what /metrics says of it", async () => {
    const families = [...(await scrapePage()).matchAll(/^# HELP (coffer_\S+) (.+)\n# TYPE \1 (\S+)$/gm)]
    const rows = [...documented.matchAll(/^\| `(coffer_\w+)` +\| (\w+) +\| (.+?) +\|$/gm)]
    assert.sameDeepMembers(
      rows.map(([, name, kind, help]) => [name, help, kind]),
      families.map(([, ...family]) => family)
    )
  })

  it("names only metrics that there are, as do the alarms and the board", async () => {
    const text = await scrapePage()
    const has = (name: string) => new RegExp(`^(# TYPE )?${name}[ {]`, "m").test(text)
    const names = namesIn(documented + rules.map(({ expr }) => expr).join() + queries.join())
    assert.isAtLeast(names.length, 15)
    assert.deepStrictEqual(
      names.filter((name) => !has(name)),
      []
    )
  })

  it("has each metric of this program on the board", () => {
    const rows = [...documented.matchAll(/^\| `(coffer_\w+)` /gm)].flatMap(([, name = ""]) => name)
    const shown = queries.join()
    assert.isAtLeast(rows.length, 40)
    assert.deepStrictEqual(
      rows.filter((name) => !new RegExp(`${name}(_bucket)?\\{`).test(shown)),
      []
    )
  })

  it("explains each alarm", () => {
    const explained = [...documented.matchAll(/^\| `(Coffer\w+)`/gm)].map(([, name]) => name)
    assert.sameMembers(
      explained,
      rules.map(({ alert }) => alert)
    )
  })

  const hasPromtool = spawnSync("promtool", ["--version"], { stdio: "ignore" }).status === 0

  it.skipIf(!hasPromtool)("has alarms that Prometheus understands (needs promtool, of Debian's prometheus)", () => {
    const { status, stderr } = spawnSync("promtool", ["check", "rules", alarms], { encoding: "utf8" })
    assert.strictEqual(status, 0, stderr)
  })
})

describe.concurrent("a server", { timeout: 120_000 }, () => {
  it("tells of a backup that failed, and of mail that did not go out", async () => {
    const failing = await Program.start({
      ...freshSettings(),
      BACKUP_S3_ENDPOINT: "http://127.0.0.1:1",
      BACKUP_SCHEDULE_HOURS: "1",
      SERVICE_METRICS_PORT: "0",
      SMTP_HOST: "127.0.0.1",
      SMTP_PORT: "1",
      SMTP_FROM: "coffer@example.com"
    })
    await failing.call("POST", "/api/auth/login", { body: { email: "ada@example.com" } })
    await failing.said(/a scheduled backup failed/)
    await failing.said(/a login code was not mailed/)
    const samples = parseExposition(await (await fetch(await metricsOf(failing))).text())
    assert.strictEqual(valueOf(samples, "coffer_mail_failures_total"), 1)
    assert.strictEqual(valueOf(samples, "coffer_backup_failures_total"), 1)
    assert.strictEqual(valueOf(samples, "coffer_backup_last_result"), 0)
    assert.isUndefined(valueOf(samples, "coffer_backup_age_seconds"))
    await failing.remove()
  })

  it("serves no metrics unless asked, and does not start when their port is taken", async () => {
    const { log: started } = await Program.start()
    assert.notInclude(started, "metrics are at")
    assert.match(started, /metrics off/)
    const taken = createServer().listen(0, "127.0.0.1")
    await new Promise((resolve) => taken.once("listening", resolve))
    const address = taken.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const { code, log } = await Program.refused({ SERVICE_METRICS_PORT: String(port) })
    taken.close()
    assert.strictEqual(code, 1)
    assert.match(log, new RegExp(`^coffer-server: cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`, "m"))
  })
})
