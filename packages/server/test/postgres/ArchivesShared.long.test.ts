import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { SecretKey } from "@coffer/domain/base/Names"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock, TestContext } from "effect"
import { afterAll } from "vitest"
import { everythingOnPostgres } from "../model/Support.js"
import { create, drop, freshDatabase, invariantsOnServer, onServer, serverUrl } from "../support/postgres/Databases.js"
import { cleanUp, freshFolder, Program } from "../support/Program.js"
import { masterKey } from "../support/Services.js"
import { newOrganization, write } from "../trail/Support.js"

// Several programs archive the log of one database. The lease of the job lets one of them go on, also when another one was stopped
// for so long that it lost its lease, or was killed. An entry is in the database or in one archive that counts, or for a moment in both.

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
/** The entries of the log: two archives, and thirty steps in which they leave. */
const entries = 6_000

afterAll(cleanUp)

/** A database with a log that is old enough to leave, of which the tests have copies. */
const filled = Effect.gen(function* () {
  const { name, url } = yield* freshDatabase()
  const log = yield* Effect.gen(function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const { id } = yield* newOrganization("acme")
    const happenings = Array.from({ length: 500 }, (_, n) => ({
      action: "secret.set" as const,
      metadata: { project: "web", env: "prod", key: SecretKey.make(`KEY_${n % 11}`) }
    }))
    for (let n = 0; n < entries; n += happenings.length) yield* write(id, ...happenings)
    return id
  }).pipe(Effect.provide(everythingOnPostgres(url, join(freshFolder(), "service.db"))), Effect.scoped)
  return { name, log }
}).pipe(Effect.provide(TestContext.TestContext))

interface Row {
  readonly name: string
  readonly first_seq: number
  readonly last_seq: number
}

/** A copy of the database, and what a test asks of it. */
const copyOf = ({ log, name: source }: Effect.Effect.Success<typeof filled>) =>
  Effect.map(Effect.acquireRelease(create(source), drop), (name) => {
    const folder = freshFolder()
    const settings = { SERVICE_DATABASE_URL: `${serverUrl()}/${name}`, BACKUP_DIR: folder }
    const rows = <R>(statement: string): Promise<ReadonlyArray<R>> =>
      Effect.runPromise(onServer(name, async (client) => (await client.query(statement)).rows as Array<R>))

    /** The archives that count, and the numbers of the entries that the database has. */
    const kept = async () => ({
      archives: await rows<Row>(
        `SELECT name, first_seq, last_seq FROM audit_archives WHERE log = '${log}' ORDER BY first_seq`
      ),
      entries: (
        await rows<{ readonly seq: number }>(`SELECT seq FROM audit_entries WHERE log = '${log}' ORDER BY seq`)
      ).map(({ seq }) => seq)
    })

    return {
      name,
      settings,
      kept,
      rows,
      /** Lets the lease of the job pass, as two minutes would. */
      letLeasePass: () => rows("UPDATE jobs SET until = '2026-01-01T00:00:00.000Z' WHERE name = 'archive'"),
      isHeld: async () => (await rows("SELECT 1 FROM jobs WHERE name = 'archive' AND until > '2026-02'")).length > 0,
      command: (...words: ReadonlyArray<string>) => {
        const child = spawn(process.execPath, [bin, "audit", ...words], {
          cwd: folder,
          env: { PATH: process.env["PATH"], SMTP_HOST: "log", SERVICE_MASTER_KEY: masterKey, ...settings },
          stdio: ["ignore", "pipe", "pipe"]
        })
        let said = ""
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (said += String(piece)))
        const ended = once(child, "close").then(([code]) => ({ code: code as number | null, said }))
        return { child, ended }
      },
      /** Each entry is in the database or in an archive; the archives follow each other, and the database has the end. */
      check: async (round: string) => {
        const { archives, entries: there } = await kept()
        let archived = 0
        for (const { first_seq, last_seq, name } of archives) {
          assert.strictEqual(first_seq, archived + 1, `${round}: archives follow each other`)
          archived = last_seq
          const lines = gunzipSync(await readFile(join(folder, name)))
            .toString("utf8")
            .trimEnd()
            .split("\n")
            .slice(1, -1)
          const numbers = lines.map((line) => (JSON.parse(line) as { readonly seq: number }).seq)
          const expected = Array.from({ length: archived - first_seq + 1 }, (_, n) => first_seq + n)
          assert.deepStrictEqual(numbers, expected, round)
        }
        const [first = entries + 2] = there
        assert.isAtMost(first, archived + 1, `${round}: no entry is lost`)
        assert.deepStrictEqual(
          there,
          Array.from({ length: there.length }, (_, n) => first + n),
          round
        )
        assert.isAtLeast(first + there.length - 1, entries + 1, round)
      }
    } as const
  })

type Copy = Effect.Effect.Success<ReturnType<typeof copyOf>>

const before = ["archive", "--before", "2026-06-01"] as const

/** Runs the command until it could archive everything: another program may have the lease, or locks that pass. */
const archiveAll = async ({ command }: Copy): Promise<void> => {
  for (let tries = 0; ; tries++) {
    const { code, said } = await command(...before).ended
    if (code === 0) return
    assert.isBelow(tries, 20, said)
    await sleep(500)
  }
}

/** All but the newest entry are in archives, and everything verifies. */
const isComplete = async (copy: Copy): Promise<void> => {
  await copy.check("at the end")
  assert.isAtMost((await copy.kept()).entries.length, 1)
  const { code, said } = await copy.command("verify").ended
  assert.strictEqual(code, 0, said)
  assert.match(said, /the audit logs are whole/)
  await Effect.runPromise(invariantsOnServer(copy.name))
}

/** Where a program is stopped. */
const points: Readonly<Record<string, (copy: Copy, begun: number) => Promise<boolean>>> = {
  "while it makes an archive": ({ isHeld }) => isHeld(),
  "when an archive counts": async ({ kept }) => (await kept()).archives.length > 0,
  "while entries leave": async ({ kept }, begun) => (await kept()).entries.length < begun
}

const started = async (copy: Copy, isThere: (copy: Copy, begun: number) => Promise<boolean>) => {
  const { length } = (await copy.kept()).entries
  const one = copy.command(...before)
  while (!(await isThere(copy, length)) && one.child.exitCode === null) await sleep(2)
  return one
}

describe("programs that archive one log at once", () => {
  it.live("two servers and two commands archive each entry once", () =>
    Effect.gen(function* () {
      const copy = yield* copyOf(yield* filled)
      yield* Effect.promise(async () => {
        const server = () =>
          Program.start({ ...copy.settings, SERVICE_MASTER_KEY: masterKey, SERVICE_AUDIT_KEEP_DAYS: "1" })
        const [one, other] = await Promise.all([server(), server(), archiveAll(copy), archiveAll(copy)])
        while ((await copy.kept()).entries.length > 1) await sleep(100)
        await Promise.all([one.stop(), other.stop()])
        for (const { log } of [one, other]) assert.notMatch(log, /is not archived|could not be archived/)
        await isComplete(copy)
      })
    }).pipe(Effect.scoped)
  )

  it.live("a paused one that lost its lease changes nothing when it goes on", () =>
    Effect.gen(function* () {
      const source = yield* filled
      for (const [point, isThere] of Object.entries(points)) {
        const copy = yield* copyOf(source)
        yield* Effect.promise(async () => {
          const paused = await started(copy, isThere)
          paused.child.kill("SIGSTOP")
          assert.isNull(paused.child.exitCode, point)
          await copy.check(point)
          await copy.letLeasePass()
          await archiveAll(copy)
          await isComplete(copy)
          const after = await copy.kept()
          paused.child.kill("SIGCONT")
          const { code, said } = await paused.ended
          assert.strictEqual(code, 1, `${point}: ${said}`)
          assert.match(said, /another server does the job|a server archives now/, point)
          assert.notMatch(said, /does not verify|lacks entry/, point)
          assert.deepStrictEqual(await copy.kept(), after, point)
          await isComplete(copy)
        })
      }
    }).pipe(Effect.scoped)
  )

  it.live("one goes on where another one was killed", () =>
    Effect.gen(function* () {
      const source = yield* filled
      for (const [point, isThere] of Object.entries(points)) {
        const copy = yield* copyOf(source)
        yield* Effect.promise(async () => {
          const killed = await started(copy, isThere)
          const other = archiveAll(copy)
          killed.child.kill("SIGKILL")
          await killed.ended
          await copy.check(point)
          await copy.letLeasePass()
          await other
          await isComplete(copy)
        })
      }
    }).pipe(Effect.scoped)
  )
})
