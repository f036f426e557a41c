import type { EntryGroup } from "@coffer/server/audit/AuditEvent"
import { makePending } from "@coffer/server/audit/Pending"
import fc from "fast-check"
import { assert, describe, it } from "vitest"

const group = (log: string, id: number, characters = 1): EntryGroup => ({
  log,
  millis: id,
  characters,
  drafts: [
    {
      ...{ id: String(id), log, org_id: null, actor_type: "system", actor_id: null, actor_name: "test" },
      ...{ action: "secret.read", resource_type: "secret", resource_id: null, ip_address: null },
      metadata: "{}"
    }
  ]
})

const idsOf = (batches: ReadonlyArray<ReadonlyArray<EntryGroup>>) =>
  batches.flatMap((batch) => batch.map(({ millis }) => millis))

describe("pending audit entries", () => {
  it("are taken once each, in the order of each log, however often some are put back", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("offer a", "offer b", "append", "fail")), fc.boolean(), (steps, byLog) => {
        const pending = makePending()
        const appended: Array<readonly [string, number]> = []
        let offered = 0
        for (const step of steps) {
          if (step.startsWith("offer")) pending.keep(group(step.slice(-1), ++offered))
          else if (step === "append") {
            for (const { log, millis } of pending.take(byLog, pending.size()).flat()) appended.push([log, millis])
          } else pending.putBack(pending.take(byLog, pending.size()).flat())
        }
        while (pending.size() > 0) {
          for (const { log, millis } of pending.take(byLog, pending.size()).flat()) appended.push([log, millis])
        }
        assert.strictEqual(appended.length, offered)
        for (const log of ["a", "b"]) {
          const ids = appended.filter(([of]) => of === log).map(([, id]) => id)
          assert.deepStrictEqual(
            ids,
            [...ids].sort((x, y) => x - y)
          )
        }
        assert.deepStrictEqual(pending.takeMissing(), [])
      })
    )
  })

  it("are taken no more than asked for: what came later stays", () => {
    const pending = makePending()
    for (let id = 1; id <= 5; id++) pending.keep(group("a", id))
    assert.deepStrictEqual(idsOf(pending.take(true, 3)), [1, 2, 3])
    assert.strictEqual(pending.size(), 2)
  })

  it("are counted where their log has no room: one log leaves half to the others, and what is there stays", () => {
    const pending = makePending()
    const large = 4 * 1024 * 1024
    for (let id = 1; id <= 4; id++) pending.keep(group("a", id, large))
    assert.isFalse(pending.offer(group("a", 5)))
    for (const log of ["a", "b"]) pending.keep(group(log, 6, large))
    assert.deepStrictEqual(idsOf(pending.take(false, 5)), [1, 2, 3, 4, 6])
    assert.deepStrictEqual(pending.takeMissing(), [["a", 1]])
    assert.isTrue(pending.isEmpty())
    assert.isTrue(pending.offer(group("a", 7)))
  })
})
