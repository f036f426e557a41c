import type { KeyObject } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { pacing } from "../base/EventLoop.js"
import { now } from "../base/Time.js"
import { Database } from "../database/Database.js"
import { query } from "../database/Query.js"
import { emptyList, type ListEnd, makeListEnd } from "../keys/ListEnd.js"
import { headMac, listLink, type ListedLog, sameLink } from "./Chain.js"

const LogRow = Schema.Struct({ log: Schema.String })
const LastRow = Schema.Struct({ number: Schema.Number, chain: Schema.String })
const HeadRow = Schema.Struct({
  log: Schema.String,
  seq: Schema.Number,
  chain: Schema.String,
  created_at: Schema.String,
  mac: Schema.String
})

/** The list of audit logs, to which a log is added with its first entry. No row is changed or removed. */
export const makeLogList = (key: KeyObject) =>
  Effect.gen(function* () {
    const end = yield* makeListEnd
    const { all, first, insert } = yield* query
    const { transaction } = yield* Database
    const insertLogs = insert("audit_logs", ["number", "log", "created_at", "chain"])
    const find = first(LogRow)`SELECT log FROM audit_logs WHERE log = ${"log"}`
    const last = first(LastRow)`SELECT number, chain FROM audit_logs ORDER BY number DESC LIMIT 1`
    const unlisted = all(HeadRow)`
      SELECT h.log, h.seq, h.chain, h.created_at, h.mac FROM audit_heads h
      WHERE NOT EXISTS (SELECT 1 FROM audit_logs l WHERE l.log = h.log) ORDER BY h.log`

    /** Adds logs behind the end, which the transaction has locked. */
    const addAfter = Effect.fnUntraced(function* (from: ListEnd, logs: ReadonlyArray<Omit<ListedLog, "number">>) {
      const found = (yield* last({})) ?? emptyList
      if (found.number !== from.number || !sameLink(found.chain, from.chain)) {
        yield* Effect.logError(
          "the list of audit logs does not end where the server ended it: keep a copy of the database, and verify the server's own log"
        )
      }
      // A row that another program added keeps its number, so that its log is not refused for ever.
      let { chain, number } = { ...from, number: Math.max(from.number, found.number) }
      const pace = pacing()
      const rows: Array<ListedLog & { readonly chain: string }> = []
      for (const { created_at, log } of logs) {
        const listed = { number: ++number, log, created_at }
        chain = listLink(key, chain, listed)
        rows.push({ ...listed, chain })
        yield* pace
      }
      yield* insertLogs(rows)
      yield* end.move({ number, chain })
    })

    /** Lists the logs whose head is authentic: anybody can write another one. */
    const listUnlisted = Effect.gen(function* () {
      const from = yield* end.lock
      const heads = (yield* unlisted({})).filter((head) => sameLink(head.mac, headMac(key, head)))
      if (from !== null && heads.length === 0) return
      const created_at = yield* now
      yield* addAfter(
        from ?? emptyList,
        heads.map(({ log }) => ({ log, created_at }))
      )
    })

    return {
      has: (log: string) => Effect.map(find({ log }), (found) => found !== undefined),

      /** Lists a log that begins. Before the list has begun, the start that begins it will. */
      add: (log: string, created_at: string) =>
        Effect.flatMap(end.lock, (from) => (from === null ? Effect.void : addAfter(from, [{ log, created_at }]))),

      /** Lists the logs that a server without the list began: all of them at the first start with it. */
      addUnlisted: Effect.gen(function* () {
        const isDue = (yield* end.read) === null || (yield* unlisted({})).length > 0
        if (isDue) yield* transaction(listUnlisted)
      })
    } as const
  })

export type LogList = Effect.Effect.Success<ReturnType<typeof makeLogList>>
