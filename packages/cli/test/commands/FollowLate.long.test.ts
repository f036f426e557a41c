import type { AuditEntry, AuditPage } from "@coffer/domain/audit/AuditEntry"
import { AuditEntryId, OrgId } from "@coffer/domain/base/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { follow } from "../../src/commands/audit/Follow.js"
import { Output } from "../../src/terminal/Output.js"

const entry = (log: string, seq: number, second: number): AuditEntry => ({
  id: AuditEntryId.make(crypto.randomUUID()),
  seq,
  org_id: OrgId.make(`0192f0c1-5b7e-7c3a-9d2e-00000000000${log}`),
  actor_type: "user",
  actor_id: null,
  actor_name: "ada@example.com",
  action: "secret.set",
  resource_type: "secret",
  resource_id: null,
  ip_address: null,
  metadata: { name: `${log}${seq}` },
  created_at: new Date(second * 1_000).toISOString()
})

/** A server's log, newest first, in pages of two. */
const serverWith = (log: ReadonlyArray<AuditEntry>) => {
  const entries = [...log]
  const read = (_limit: number | undefined, after: string | undefined): Effect.Effect<AuditPage> =>
    Effect.sync(() => {
      const from = Number(after ?? 0)
      const data = entries.slice(from, from + 2)
      const has_next = from + 2 < entries.length
      return {
        data,
        pagination: { total: entries.length, limit: 2, has_next, next_cursor: has_next ? String(from + 2) : null }
      }
    })
  return { entries, read }
}

const output = Output.of({
  isTerminal: false,
  isErrorTerminal: false,
  width: () => undefined,
  height: () => undefined,
  write: () => Effect.void,
  writeFlushed: () => Effect.void,
  isLost: Effect.succeed(false),
  writeError: () => undefined
})

describe("following several logs", () => {
  it.effect("prints an entry committed after a later one of another log, and no entry twice or from before", () =>
    Effect.gen(function* () {
      const { entries, read } = serverWith([
        entry("a", 3, 100),
        entry("a", 2, 99),
        entry("b", 7, 98),
        entry("b", 6, 70),
        entry("a", 1, 60)
      ])
      const printed: Array<string> = []
      const print = (some: ReadonlyArray<AuditEntry>) =>
        Effect.sync(() => void printed.push(...some.map(({ metadata }) => String(metadata["name"]))))
      const fiber = yield* Effect.fork(follow({ read, limit: 2, lateness: "20 seconds", print }))
      const look = TestClock.adjust("2 seconds")
      yield* look
      assert.deepStrictEqual(printed, ["a2", "a3"])
      entries.unshift(entry("a", 4, 101))
      yield* look
      // Late, and below entries that were seen.
      entries.splice(2, 0, entry("b", 8, 100))
      yield* look
      entries.unshift(entry("c", 1, 103))
      yield* look
      yield* look
      assert.deepStrictEqual(printed, ["a2", "a3", "a4", "b8", "c1"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provideService(Output, output))
  )
})
