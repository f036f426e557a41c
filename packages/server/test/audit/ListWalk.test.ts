import { listLink } from "@coffer/server/audit/Chain"
import { listWalk } from "@coffer/server/audit/ListCheck"
import { emptyList, type ListEnd } from "@coffer/server/keys/ListEnd"
import { assert, describe, it } from "@effect/vitest"
import { createSecretKey } from "node:crypto"

const key = createSecretKey(Buffer.alloc(32, 1))
type Row = Parameters<ReturnType<typeof listWalk>["add"]>[0]

/** A list of logs as the server writes it. */
const listOf = (...logs: ReadonlyArray<string>): ReadonlyArray<Row> =>
  logs.reduce<ReadonlyArray<Row>>((before, log, index) => {
    const row = { number: index + 1, log, created_at: "2026-01-01T00:00:00.000Z" }
    return [...before, { ...row, chain: listLink(key, before.at(-1)?.chain ?? emptyList.chain, row), found: 1 }]
  }, [])
const endOf = (rows: ReadonlyArray<Row>): ListEnd => rows.at(-1) ?? emptyList

const check = (rows: ReadonlyArray<Row>, end: ListEnd | null) => {
  const walk = listWalk(key)
  for (const row of rows) walk.add(row)
  assert.strictEqual(walk.reached(), rows.at(-1)?.number ?? 0)
  return walk.close(end)
}

const rows = listOf("system", "acme", "shop", "last")
const changed = (index: number, changes: Partial<Row>) =>
  rows.map((row, position) => (position === index ? { ...row, ...changes } : row))

describe("the list of audit logs", () => {
  it("is whole as the server writes it, empty too", () => {
    assert.deepStrictEqual(check(rows, endOf(rows)), { firstInvalid: null, missing: [] })
    assert.deepStrictEqual(check([], emptyList), { firstInvalid: null, missing: [] })
  })

  it("names the first row that was changed, and no missing log in such a row", () => {
    for (const changes of [{ log: "other" }, { created_at: "2026-01-02T00:00:00.000Z" }, { chain: "0".repeat(64) }]) {
      const list = changed(1, { ...changes, found: 0 })
      assert.deepStrictEqual(check(list, endOf(rows)), { firstInvalid: 2, missing: [] }, JSON.stringify(changes))
    }
  })

  it("names the first of several rows that do not fit, and the missing logs after it", () => {
    const list = changed(1, { log: "other" }).map((row, index) =>
      index === 2 ? { ...row, chain: "1".repeat(64) } : index === 3 ? { ...row, found: 0 } : row
    )
    assert.strictEqual(check(list, endOf(rows)).firstInvalid, 2)
    assert.deepStrictEqual(check(changed(0, { log: "other" }).with(3, { ...rows[3]!, found: 0 }), endOf(rows)), {
      firstInvalid: 1,
      missing: ["last"]
    })
  })

  it("names the number of a row that was removed, in the middle and at the end", () => {
    const without = (number: number) => rows.filter((row) => row.number !== number)
    assert.deepStrictEqual(check(without(1), endOf(rows)), { firstInvalid: 1, missing: [] })
    assert.deepStrictEqual(check(without(3), endOf(rows)), { firstInvalid: 3, missing: [] })
    assert.deepStrictEqual(check(without(4), endOf(rows)), { firstInvalid: 4, missing: [] })
    assert.deepStrictEqual(check([], endOf(rows)), { firstInvalid: 1, missing: [] })
  })

  it("names listed logs that do not exist", () => {
    assert.deepStrictEqual(check(changed(2, { found: 0 }), endOf(rows)), { firstInvalid: null, missing: ["shop"] })
  })

  it("ends where its end says: not before, not later, not with another link", () => {
    assert.strictEqual(check(rows, endOf(rows.slice(0, 2))).firstInvalid, 3)
    assert.strictEqual(check(rows, emptyList).firstInvalid, 1)
    assert.strictEqual(check(rows, { number: 4, chain: "0".repeat(64) }).firstInvalid, 5)
    assert.strictEqual(check(rows, { number: 9, chain: endOf(rows).chain }).firstInvalid, 5)
    assert.strictEqual(check(rows, null).firstInvalid, 1)
    assert.strictEqual(check([], null).firstInvalid, 1)
    assert.strictEqual(check(changed(1, { log: "other" }), null).firstInvalid, 2)
  })

  it("awaits the rows of logs that began meanwhile, once for each end", () => {
    const walk = listWalk(key)
    const [first, second, third] = [rows[0]!, rows[1]!, rows[2]!]
    assert.isFalse(walk.awaits(null))
    assert.isFalse(walk.awaits(emptyList))
    assert.isTrue(walk.awaits(first))
    assert.isFalse(walk.awaits(first), "it never came")
    walk.add(first)
    assert.isFalse(walk.awaits(first))
    assert.isTrue(walk.awaits(third))
    walk.add(second)
    assert.isFalse(walk.awaits(second), "all rows that this end counts are there")
    assert.isFalse(walk.awaits(third))
    assert.isTrue(walk.awaits({ ...third, number: 4 }))
  })
})
