import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { ProjectName } from "@coffer/domain/base/Names"
import { AuditIndex } from "@coffer/server/audit/AuditIndex"
import { ServerConfig } from "@coffer/server/base/Config"
import { Database } from "@coffer/server/database/Database"
import { type Fenced, fencedByNothing, isLeaseLost, LeaseLost } from "@coffer/server/database/jobs/Lease"
import { AuditArchives } from "@coffer/server/operations/audit-archives/AuditArchives"
import { makeObjectStore } from "@coffer/server/operations/backups/ConfiguredStore"
import { type ObjectStore, StoreFailure } from "@coffer/server/operations/backups/ObjectStore"
import { Trail } from "@coffer/server/edges/trail/Trail"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, TestClock } from "effect"
import { failing, freshPlace, invariantsIn, isOnPostgres, type Place, servicesIn } from "../support/Services.js"
import { list, listAll, newOrganization, verify, verifyAll, write } from "../trail/Support.js"

const day = 24 * 60 * 60 * 1000
const start = Date.UTC(2026, 0, 1)
const at = (days: number) => new Date(start + days * day).toISOString()

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-archives-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const servicesWith = (place: Place, environment: Readonly<Record<string, string>>) =>
  Layer.mergeAll(AuditArchives.Default, Trail.Default).pipe(Layer.provideMerge(servicesIn(place, environment)))

/** Runs a test with archives in a folder, on a database of its own, whose invariants are checked afterwards. */
const withArchives =
  (environment: Readonly<Record<string, string>> = {}) =>
  <A, E, R>(test: (directory: string) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      const directory = yield* folder
      yield* Effect.provide(
        Effect.scoped(test(directory)),
        servicesWith(place, { BACKUP_DIR: directory, ...environment })
      )
      yield* invariantsIn(place)
    }).pipe(Effect.scoped)

const store = Effect.flatMap(ServerConfig, ({ backups }) =>
  backups === null ? Effect.dieMessage("no store") : makeObjectStore(backups)
)

const archive = (
  before: string,
  changed: (store: ObjectStore) => ObjectStore = (same) => same,
  fenceOf: (database: Database["Type"]) => Fenced = fencedByNothing
) =>
  Effect.gen(function* () {
    const fenced = fenceOf(yield* Database)
    return yield* (yield* AuditArchives).archive(changed(yield* store), before, fenced)
  })

const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl.gz"))
    .map((name) => join(directory, name))

const metadata = { project: "web", env: "prod", key: "A" }
const filter = { project: ProjectName.make("web") }

/** An organization with ten entries a day for some days. */
const logOf = (days: number) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(start)
    const acme = yield* newOrganization("acme")
    for (let n = 0; n < days; n++) {
      yield* write(acme.id, ...Array.from({ length: 10 }, () => ({ metadata })))
      yield* TestClock.adjust("1 day")
    }
    return acme
  })

const run = <Row extends object>(statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(statement))

/** The numbers of all pages of a log, newest first. */
const numbersOf = (log: Parameters<typeof list>[0]) =>
  Effect.gen(function* () {
    const found: Array<number> = []
    for (let after: string | null = ""; after !== null;) {
      const page: Effect.Effect.Success<ReturnType<typeof list>> = yield* list(log, {
        limit: 7,
        ...(after !== "" && { after })
      })
      found.push(...page.data.map(({ seq }) => seq))
      after = page.pagination.next_cursor
    }
    return found
  })

describe("archives of the audit log", () => {
  it.effect(
    "take the entries from before a day: the rest is listed, counted and verified, and says how many left",
    () =>
      withArchives()((directory) =>
        Effect.gen(function* () {
          const acme = yield* logOf(4)
          const { archives, problems } = yield* archive(at(2))
          assert.deepStrictEqual(problems, [])
          assert.deepStrictEqual(
            archives.filter(({ log }) => log === acme.id).map(({ first_seq, last_seq }) => [first_seq, last_seq]),
            [[1, 21]]
          )
          const page = yield* list(acme, filter)
          assert.deepInclude(page.pagination, { total: 20, archived: 21 })
          assert.deepInclude((yield* list(acme)).pagination, { total: 20, archived: 21 })
          assert.deepStrictEqual(
            yield* numbersOf(acme),
            Array.from({ length: 20 }, (_, index) => 41 - index)
          )
          assert.strictEqual((yield* listAll({ action: "secret.set" })).pagination.total, 20)
          assert.deepInclude(yield* verify(acme), { valid: true, entries: 20, archived: 21, first_invalid_seq: null })
          assert.deepInclude(yield* verify(acme, { from_seq: 5 }), { valid: true, entries: 20 })
          assert.deepInclude(yield* verify(acme, { from_seq: 30 }), { valid: true, entries: 12 })
          assert.deepStrictEqual(yield* (yield* AuditArchives).check(yield* store), {
            archives: archives.length,
            problems: []
          })
          const [file = ""] = filesIn(directory).filter((name) => name.includes(acme.id))
          assert.strictEqual(statSync(file).mode & 0o777, 0o600)
          const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split("\n")
          assert.strictEqual(lines.length, 23)
        })
      )
  )

  it.effect("are entries of the log of the server, and a second run finds nothing", () =>
    withArchives()(() =>
      Effect.gen(function* () {
        const acme = yield* logOf(3)
        const { archives } = yield* archive(at(2))
        const { data } = yield* listAll({ action: "audit.archive" })
        const [entry] = data.filter(({ metadata }) => metadata["log"] === acme.id)
        const [row] = archives.filter(({ log }) => log === acme.id)
        assert.strictEqual(entry?.org_id, null)
        assert.deepInclude(entry?.metadata, { first_seq: 1, last_seq: 21, name: row?.name, sha256: row?.sha256 })
        assert.deepStrictEqual((yield* archive(at(2))).archives, [])
        assert.isTrue((yield* verifyAll()).valid)
        yield* write(acme.id, { metadata })
        assert.isTrue((yield* verify(acme)).valid)
      })
    )
  )

  it.effect("follow each other: the link between two of them holds, and the newest entry never leaves", () =>
    withArchives()(() =>
      Effect.gen(function* () {
        const acme = yield* logOf(3)
        yield* archive(at(1))
        yield* archive(at(2))
        yield* archive(at(400))
        assert.deepInclude(yield* verify(acme), { valid: true, entries: 1, archived: 30 })
        assert.deepStrictEqual((yield* (yield* AuditArchives).check(yield* store)).problems, [])
        yield* write(acme.id, { metadata })
        assert.strictEqual((yield* list(acme, filter)).pagination.total, 2)
      })
    )
  )

  it.effect("keep what is not read back as it was put, and remove nothing", () =>
    withArchives()((directory) =>
      Effect.gen(function* () {
        const acme = yield* logOf(2)
        const cut = (good: ObjectStore): ObjectStore => ({
          ...good,
          put: (name, size, content) =>
            Effect.zipRight(
              good.put(name, size, content),
              Effect.sync(() => {
                truncateSync(join(directory, name), size - 1)
              })
            )
        })
        const { archives, problems } = yield* archive(at(1), cut)
        assert.deepStrictEqual(archives, [])
        assert.match(problems.join(), /is not what was put into the store/)
        assert.deepInclude(yield* verify(acme), { valid: true, entries: 21 })
        const failed = yield* Effect.exit(
          archive(at(1), (good) => ({
            ...good,
            put: () => new StoreFailure({ store: "object store", doing: "take the backup", reason: "down" })
          }))
        )
        assert.isTrue(Exit.isFailure(failed))
        assert.strictEqual((yield* list(acme)).pagination.total, 21)
      })
    )
  )

  it.effect("find a changed archive, and a missing one", () =>
    withArchives()((directory) =>
      Effect.gen(function* () {
        yield* logOf(3)
        yield* archive(at(1))
        yield* archive(at(2))
        const [file = "", other = ""] = filesIn(directory)
        const content = readFileSync(file)
        content[content.length >> 1]! ^= 1
        writeFileSync(file, content)
        rmSync(other)
        const { problems } = yield* (yield* AuditArchives).check(yield* store)
        assert.strictEqual(problems.length, 2)
        assert.match(problems.join("\n"), /cannot be decompressed|no valid signature/)
      })
    )
  )

  it.effect("hold at most 4 MiB of metadata and one entry more: they are made in memory", () =>
    withArchives()((directory) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start)
        const acme = yield* newOrganization("acme")
        for (let n = 0; n < 40; n++) yield* write(acme.id, { metadata: { text: "x".repeat(250_000) } })
        yield* TestClock.adjust("2 days")
        yield* write(acme.id, { metadata })
        yield* archive(at(1))
        const sizes = filesIn(directory).map((file) => gunzipSync(readFileSync(file)).length)
        assert.isAbove(sizes.length, 2)
        for (const size of sizes) assert.isBelow(size, 4.5 * 1024 * 1024)
        assert.deepInclude(yield* verify(acme), { valid: true, entries: 1, archived: 41 })
      })
    )
  )

  it.effect("wait for the audit stream: what it has not read stays", () =>
    withArchives({ SERVICE_AUDIT_STREAM: "stdout" })(() =>
      Effect.gen(function* () {
        const acme = yield* logOf(2)
        const plans = yield* (yield* AuditArchives).plans(at(1))
        assert.deepInclude(
          plans.find(({ log }) => log === acme.id),
          { after: 0, to: 0, heldBy: "audit stream" }
        )
        assert.deepStrictEqual((yield* archive(at(1))).archives, [])
        assert.deepInclude(yield* verify(acme), { valid: true, entries: 21 })
      })
    )
  )

  it.effect("leave a log that does not verify as it is, and go on with the others", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      const directory = yield* folder
      yield* Effect.gen(function* () {
        const acme = yield* logOf(2)
        const other = yield* newOrganization("other")
        yield* write(other.id, { metadata })
        yield* TestClock.adjust("3 days")
        yield* write(other.id, { metadata })
        for (const trigger of isOnPostgres() ? ["DISABLE TRIGGER ALL"] : []) {
          yield* run(`ALTER TABLE audit_entries ${trigger}`)
        }
        if (!isOnPostgres()) yield* run("DROP TRIGGER audit_entries_no_update")
        yield* run(`UPDATE audit_entries SET actor_name = 'eve' WHERE seq = 3 AND log = '${acme.id}'`)
        const { archives, problems } = yield* archive(at(4))
        assert.match(problems.join(), /does not verify from entry 3 on/)
        assert.isFalse(archives.some(({ log }) => log === acme.id))
        assert.isTrue(archives.some(({ log }) => log === other.id))
        assert.deepInclude(yield* verify(acme), { valid: false, first_invalid_seq: 3 })
        const lost: Fenced = () => Effect.die(new LeaseLost({ job: "archive" }))
        const late = yield* Effect.exit(archive(at(4), undefined, () => lost))
        assert.isTrue(Exit.isFailure(late) && isLeaseLost(late.cause), "a server that lost the job reports no log")
      }).pipe(Effect.scoped, Effect.provide(servicesWith(place, { BACKUP_DIR: directory })))
    }).pipe(Effect.scoped)
  )

  const damages: Readonly<Record<string, (log: string) => string>> = {
    "a start that was moved on": () => "UPDATE audit_starts SET seq = seq + 1",
    "a start that was removed": () => "DELETE FROM audit_starts",
    "a start with the link of another entry": (log) =>
      `UPDATE audit_starts SET seq = 12, chain = (SELECT chain FROM audit_entries WHERE log = '${log}' AND seq = 12)`,
    "a first entry that was removed behind the archive": (log) =>
      `DELETE FROM audit_entries WHERE log = '${log}' AND seq = 12`
  }
  for (const [what, damage] of Object.entries(damages)) {
    it.effect(`hide nothing: ${what} is found by verify`, () =>
      Effect.gen(function* () {
        const place = yield* freshPlace
        const directory = yield* folder
        yield* Effect.gen(function* () {
          const acme = yield* logOf(3)
          yield* archive(at(1))
          assert.isTrue((yield* verify(acme)).valid)
          if (isOnPostgres()) yield* run("ALTER TABLE audit_entries DISABLE TRIGGER ALL")
          else yield* run("DROP TRIGGER audit_entries_no_delete")
          yield* run(damage(acme.id))
          assert.isFalse((yield* verify(acme)).valid)
        }).pipe(Effect.scoped, Effect.provide(servicesWith(place, { BACKUP_DIR: directory })))
      }).pipe(Effect.scoped)
    )
  }

  it.effect("let the database delete entries in an archive alone, and change no entry", () =>
    withArchives()(() =>
      Effect.gen(function* () {
        const acme = yield* logOf(2)
        yield* archive(at(1))
        for (const statement of [
          `DELETE FROM audit_entries WHERE log = '${acme.id}' AND seq = 15`,
          `UPDATE audit_entries SET actor_name = 'eve' WHERE log = '${acme.id}'`
        ]) {
          const refused = yield* Effect.exit(run(statement))
          assert.isTrue(Exit.isFailure(refused), statement)
        }
        assert.isTrue((yield* verify(acme)).valid)
      })
    )
  )

  it.effect("say of a head that left that an archive has it, and verify the one that left last", () =>
    withArchives()(() =>
      Effect.gen(function* () {
        const acme = yield* logOf(2)
        const rows = yield* run<{ readonly seq: number; readonly chain: string }>(
          `SELECT seq, chain FROM audit_entries WHERE log = '${acme.id}' AND seq IN (5, 11)`
        )
        const chainOf = (seq: number) => rows.find((row) => row.seq === seq)?.chain ?? assert.fail("no entry")
        yield* archive(at(1))
        assert.isTrue((yield* verify(acme, { seq: 11, chain: chainOf(11) })).valid)
        assert.isFalse((yield* verify(acme, { seq: 11, chain: chainOf(5) })).valid)
        const refused = yield* Effect.flip(verify(acme, { seq: 5, chain: chainOf(5) }))
        assert.match(refused.message, /left for archives/)
      })
    )
  )

  it.effect("can be repeated after a failure of any statement: nothing is lost, and the end is the same", () =>
    withArchives()(() =>
      Effect.gen(function* () {
        const acme = yield* logOf(2)
        yield* (yield* AuditIndex).catchUpAll
        let fails = 0
        for (let statement = 1; ; statement += statement < 40 ? 1 : 17) {
          const { hit } = yield* failing(statement, Effect.sandbox(archive(at(1))))
          assert.isTrue((yield* verify(acme)).valid, `after statement ${statement}`)
          const { archived = 0, total } = (yield* list(acme, {})).pagination
          assert.strictEqual(archived + total, 21)
          if (!hit) break
          fails++
        }
        assert.isAbove(fails, 5)
        yield* archive(at(1))
        assert.deepInclude(yield* verify(acme), { valid: true, entries: 10, archived: 11 })
        assert.deepStrictEqual((yield* (yield* AuditArchives).check(yield* store)).problems, [])
        assert.strictEqual((yield* list(acme, filter)).pagination.total, 10)
      })
    )
  )
})
