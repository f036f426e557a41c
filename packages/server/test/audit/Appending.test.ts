import { OrgId } from "@coffer/domain/base/Ids"
import { makeAppend, missingEntry } from "@coffer/server/audit/Append"
import { breakLink, type Draft, genesis, headMac, link, listLink } from "@coffer/server/audit/Chain"
import { makeListCheck } from "@coffer/server/audit/ListCheck"
import { makeLogList } from "@coffer/server/audit/LogList"
import { auditRepo } from "@coffer/server/audit/Repo"
import { Instance } from "@coffer/server/keys/Instance"
import { emptyList, makeListEnd } from "@coffer/server/keys/ListEnd"
import { SqlClient, type SqlError } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openToChanges } from "../support/Refusing.js"
import { onDamagedDatabase, organization, transaction, uuid } from "../support/Services.js"

interface EntryRow extends Draft {
  readonly seq: number
  readonly created_at: string
  readonly chain: string
}

interface HeadRow {
  readonly log: string
  readonly seq: number
  readonly chain: string
  readonly created_at: string
  readonly mac: string
}

const draft = (log: string, action: string): Draft => ({
  id: uuid(),
  log,
  org_id: log === "system" ? null : log,
  actor_type: "user",
  actor_id: null,
  actor_name: "ada@example.com",
  action,
  resource_type: "org",
  resource_id: null,
  ip_address: null,
  metadata: "{}"
})

const time = (seconds: number) => new Date(seconds * 1_000).toISOString()

const scene = Effect.gen(function* () {
  const { auditKey: key } = yield* Instance
  const list = yield* makeLogList(key)
  const failing = new Set<string>()
  const append = makeAppend(yield* auditRepo, list, key, failing)
  const sql = yield* SqlClient.SqlClient
  yield* openToChanges

  /** Appends entries of these actions at a second since 1970. */
  const add = (log: string, seconds: number, action: string, ...actions: ReadonlyArray<string>) =>
    transaction(append(log, [draft(log, action), ...actions.map((other) => draft(log, other))], seconds * 1_000))
  const rowsOf = (log: string) => sql<EntryRow>`
    SELECT id, log, org_id, actor_type, actor_id, actor_name, action, resource_type, resource_id, ip_address, metadata,
      seq, created_at, chain FROM audit_entries WHERE log = ${log} ORDER BY seq`
  const headOf = (log: string) =>
    Effect.map(
      sql<HeadRow>`SELECT log, seq, chain, created_at, mac FROM audit_heads WHERE log = ${log}`,
      ([row]) => row ?? null
    )
  const listed = (log: string) => sql<{ created_at: string }>`SELECT created_at FROM audit_logs WHERE log = ${log}`
  const forget = (log: string) =>
    Effect.zipRight(sql`DELETE FROM audit_entries WHERE log = ${log}`, sql`DELETE FROM audit_heads WHERE log = ${log}`)

  /** Checks that entries are linked to the one before, and that the head is authentic and names the last one. */
  const checkLinks = (log: string, before: string, rows: ReadonlyArray<EntryRow>) =>
    Effect.gen(function* () {
      let chain = before
      for (const { chain: found, created_at, seq, ...entry } of rows) {
        const stamp = { seq, created_at }
        if (entry.action === "audit.break") chain = breakLink(key, entry, stamp)
        chain = link(key, chain, entry, stamp)
        assert.strictEqual(found, chain, `${entry.action} ${seq}`)
      }
      const last = rows.at(-1) ?? assert.fail("no entries")
      const head = { log, seq: last.seq, chain: last.chain, created_at: last.created_at }
      assert.deepStrictEqual(yield* headOf(log), { ...head, mac: headMac(key, head) })
    })
  return { add, checkLinks, failing, forget, headOf, key, list, listed, rowsOf, sql }
})

const actionsOf = (rows: ReadonlyArray<EntryRow>) =>
  rows.map(({ action, created_at, seq }) => [seq, action, created_at])

describe("an append", () => {
  it.effect("numbers entries, links each to the one before, moves the head, and lists a log with its first entry", () =>
    Effect.gen(function* () {
      const { add, checkLinks, listed, rowsOf, sql } = yield* scene
      for (const [log, first] of [
        [uuid(), "org.create"],
        ["system", "auth.login"]
      ] as const) {
        assert.isNull(yield* add(log, 10, first, "secret.set"))
        assert.deepStrictEqual(yield* listed(log), [{ created_at: time(10) }])
        yield* sql`INSERT INTO audit_indexed (log, seq) VALUES (${log}, 0) ON CONFLICT (log) DO UPDATE SET seq = 0`
        assert.isNull(yield* add(log, 20, "secret.set"))
        assert.lengthOf(yield* listed(log), 1)
        assert.deepStrictEqual(yield* sql`SELECT seq FROM audit_indexed WHERE log = ${log}`, [{ seq: 0 }])
        const rows = yield* rowsOf(log)
        assert.deepStrictEqual(actionsOf(rows), [
          [1, first, time(10)],
          [2, "secret.set", time(10)],
          [3, "secret.set", time(20)]
        ])
        yield* checkLinks(log, genesis, rows)
      }
    }).pipe(onDamagedDatabase())
  )

  it.effect("never goes back in time, though another server's clock is behind", () =>
    Effect.gen(function* () {
      const { add, checkLinks, rowsOf } = yield* scene
      const log = uuid()
      for (const seconds of [20, 10, 30]) yield* add(log, seconds, "org.create")
      const rows = yield* rowsOf(log)
      assert.deepStrictEqual(
        rows.map(({ created_at }) => created_at),
        [time(20), time(20), time(30)]
      )
      yield* checkLinks(log, genesis, rows)
    }).pipe(onDamagedDatabase())
  )

  it.effect("begins an organization's log with its creation, or records that the log before is gone", () =>
    Effect.gen(function* () {
      const { add, checkLinks, failing, forget, listed, rowsOf } = yield* scene
      const log = uuid()
      assert.deepStrictEqual(yield* add(log, 10, "secret.set", "secret.set"), { head: null, last: null, log, seq: 1 })
      const rows = yield* rowsOf(log)
      assert.deepStrictEqual(actionsOf(rows), [
        [1, "audit.break", time(10)],
        [2, "secret.set", time(10)],
        [3, "secret.set", time(10)]
      ])
      const { chain, created_at, id, seq, ...entry } = rows[0] ?? assert.fail("no break")
      assert.isDefined([chain, created_at, id, seq])
      assert.deepStrictEqual(entry, {
        ...{ log, org_id: log, actor_type: "system", actor_id: null, actor_name: "audit log", action: "audit.break" },
        ...{ resource_type: "org", resource_id: log, ip_address: null, metadata: '{"head":null,"last":null}' }
      })
      yield* checkLinks(log, genesis, rows)
      assert.lengthOf(yield* listed(log), 1)

      // An append that failed is no reason: its log never began.
      const failed = uuid()
      failing.add(failed)
      assert.isNull(yield* add(failed, 10, "secret.set"))
      // A listed log did begin, whatever failed later, and whatever comes first.
      for (const gone of [log, failed]) {
        yield* forget(gone)
        assert.deepStrictEqual(yield* add(gone, 20, "org.create"), { head: null, last: null, log: gone, seq: 1 })
        assert.lengthOf(yield* listed(gone), 1)
      }
    }).pipe(onDamagedDatabase())
  )

  it.effect("records a break of the server's own log as one of the server", () =>
    Effect.gen(function* () {
      const { add, forget, rowsOf } = yield* scene
      yield* add("system", 10, "auth.login")
      yield* forget("system")
      assert.isNotNull(yield* add("system", 20, "auth.login"))
      const { action, org_id, resource_id, resource_type } = (yield* rowsOf("system"))[0] ?? assert.fail("no break")
      assert.deepStrictEqual([action, org_id, resource_type, resource_id], ["audit.break", null, "server", null])
    }).pipe(onDamagedDatabase())
  )

  it.effect("records a break where a part of a log is left that no list knows, also by what may begin a log", () =>
    Effect.gen(function* () {
      const { add, forget, listed, sql } = yield* scene
      for (const rest of ["head", "entries"]) {
        const log = uuid()
        yield* add(log, 10, "org.create")
        if (rest === "head") yield* sql`DELETE FROM audit_entries WHERE log = ${log}`
        else yield* sql`DELETE FROM audit_heads WHERE log = ${log}`
        yield* sql`DELETE FROM audit_logs WHERE log = ${log}`
        assert.isNotNull(yield* add(log, 20, "org.create"), rest)
        assert.isEmpty(yield* listed(log), "the list keeps what it was when the log began")
        yield* forget(log)
      }
    }).pipe(onDamagedDatabase())
  )

  type Damage = (
    sql: SqlClient.SqlClient,
    log: string,
    head: HeadRow,
    sign: (head: HeadRow) => string
  ) => Effect.Effect<unknown, SqlError.SqlError>
  const signed =
    (changes: Partial<HeadRow>): Damage =>
    (sql, log, head, sign) => {
      const { chain, created_at, seq } = { ...head, ...changes }
      const mac = sign({ ...head, ...changes })
      return sql`UPDATE audit_heads SET seq = ${seq}, chain = ${chain}, created_at = ${created_at}, mac = ${mac} WHERE log = ${log}`
    }
  const damages: Readonly<Record<string, readonly [damage: Damage, last: number]>> = {
    "another MAC": [(sql, log) => sql`UPDATE audit_heads SET mac = ${"f".repeat(64)} WHERE log = ${log}`, 3],
    "a later time": [
      (sql, log) => sql`UPDATE audit_heads SET created_at = '2999-01-01T00:00:00.000Z' WHERE log = ${log}`,
      3
    ],
    "an authentic head of an earlier entry": [signed({ seq: 2 }), 3],
    "an authentic head of another last entry": [signed({ chain: "e".repeat(64) }), 3],
    "no head": [(sql, log) => sql`DELETE FROM audit_heads WHERE log = ${log}`, 3],
    "no entries": [(sql, log) => sql`DELETE FROM audit_entries WHERE log = ${log}`, 0],
    "a number below 1": [
      (sql, log) =>
        Effect.zipRight(
          sql`DELETE FROM audit_entries WHERE log = ${log} AND seq > 1`,
          sql`UPDATE audit_entries SET seq = -5 WHERE log = ${log}`
        ),
      0
    ]
  }
  for (const [what, [damage, last]] of Object.entries(damages)) {
    it.effect(`records a head and a last entry that disagree, and goes on behind them: ${what}`, () =>
      Effect.gen(function* () {
        const { add, checkLinks, headOf, key, rowsOf, sql } = yield* scene
        const log = uuid()
        yield* add(log, 50, "org.create", "secret.set", "secret.set")
        yield* sql`INSERT INTO audit_indexed (log, seq) VALUES (${log}, 3) ON CONFLICT DO NOTHING`
        yield* damage(sql, log, (yield* headOf(log)) ?? assert.fail("no head"), (head) => headMac(key, head))
        const before = { head: yield* headOf(log), last: (yield* rowsOf(log)).at(-1) ?? null }

        const found = yield* add(log, 60, "secret.read", "secret.read")
        assert.deepStrictEqual(found, {
          ...{ log, seq: last + 1, head: before.head },
          last: before.last && { seq: before.last.seq, chain: before.last.chain }
        })
        const added = (yield* rowsOf(log)).filter(({ action, seq }) => seq > last && action !== "org.create")
        assert.deepStrictEqual(actionsOf(added), [
          [last + 1, "audit.break", time(60)],
          [last + 2, "secret.read", time(60)],
          [last + 3, "secret.read", time(60)]
        ])
        yield* checkLinks(log, genesis, added)
        assert.deepStrictEqual(JSON.parse(added[0]?.metadata ?? ""), {
          head: found?.head,
          last: found?.last
        })
        assert.deepStrictEqual(yield* sql`SELECT seq FROM audit_indexed WHERE log = ${log}`, [{ seq: last }])

        assert.isNull(yield* add(log, 70, "secret.read"), "the new segment is whole")
      }).pipe(onDamagedDatabase())
    )
  }
})

describe("the entry for entries that could not be kept", () => {
  it("says how many, in the log that misses them", () => {
    const { drafts, ...group } = missingEntry("system", 7, 1_000)
    assert.deepStrictEqual(group, { log: "system", millis: 1_000, characters: 0 })
    assert.lengthOf(drafts, 1)
    const { action, actor_name, metadata, org_id } = drafts[0]
    assert.deepStrictEqual(
      [action, actor_name, metadata, org_id],
      ["audit.missing", "audit log", '{"entries":7}', null]
    )
  })
})

describe("the check of the list of logs", () => {
  /** Fills the list as the server does, and returns how to check it. */
  const filled = (logs: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const { key, sql } = yield* scene
      const end = yield* makeListEnd
      yield* sql`DELETE FROM audit_logs`
      let { chain, number } = emptyList
      const rows = logs.map((log) => {
        const listed = { number: ++number, log, created_at: time(1) }
        chain = listLink(key, chain, listed)
        return { ...listed, chain }
      })
      for (let from = 0; from < rows.length; from += 100) {
        yield* sql`INSERT INTO audit_logs ${sql.insert(rows.slice(from, from + 100))}`
      }
      yield* transaction(Effect.zipRight(end.lock, end.move({ number, chain })))
      const check = yield* makeListCheck(key)
      return { check, chain, end, number, sql }
    })
  const logs = (count: number) => Array.from({ length: count }, () => OrgId.make(uuid()))

  for (const count of [0, 199, 200, 201, 450]) {
    it.effect(`reads all pages of ${count} logs, and names the first hundred that do not exist, in order`, () =>
      Effect.gen(function* () {
        const listed = logs(count)
        const { check } = yield* filled([...listed].reverse())
        assert.deepStrictEqual(yield* check, { firstInvalid: null, missing: listed.slice(0, 100) })
      }).pipe(onDamagedDatabase())
    )
  }

  it.effect("names organizations that have no log, each once, and no log that belongs to nobody", () =>
    Effect.gen(function* () {
      yield* organization()
      const other = yield* organization("other", "unused", "bob@example.com")
      assert.isDefined(other)
      const sql = yield* SqlClient.SqlClient
      const orgs = yield* sql<{ id: string; name: string }>`SELECT id, name FROM organizations ORDER BY id`
      const ids = orgs.map(({ id }) => OrgId.make(id))
      const { check } = yield* filled([ids[1] ?? "", "system"])
      assert.deepStrictEqual(yield* check, { firstInvalid: null, missing: [] })
      for (const id of ids) {
        yield* sql`DELETE FROM audit_entries WHERE log = ${id}`
        yield* sql`DELETE FROM audit_heads WHERE log = ${id}`
      }
      assert.deepStrictEqual(yield* check, { firstInvalid: null, missing: ids })
    }).pipe(onDamagedDatabase())
  )

  it.effect("misses rows that its end names, and takes no end that another program wrote", () =>
    Effect.gen(function* () {
      const { chain, check, end, number, sql } = yield* filled(logs(3))
      yield* transaction(Effect.zipRight(end.lock, end.move({ number: number + 1, chain })))
      assert.strictEqual((yield* check).firstInvalid, 4)
      yield* transaction(Effect.zipRight(end.lock, end.move({ number: number - 1, chain })))
      assert.strictEqual((yield* check).firstInvalid, 3)
      yield* transaction(Effect.zipRight(end.lock, end.move({ number, chain })))
      assert.isNull((yield* check).firstInvalid)
      yield* sql`UPDATE wrapped_keys SET nonce = ciphertext WHERE name = 'check'`
      assert.strictEqual((yield* check).firstInvalid, 1)
    }).pipe(onDamagedDatabase())
  )
})
