import { Effect, Schema } from "effect"
import { type Parameter, Statements } from "../database/Client.js"
import { rowsBy } from "../database/Row.js"
import type { Draft, Head, Stamp } from "./Chain.js"

const HeadRow = Schema.Struct({
  log: Schema.String,
  seq: Schema.Number,
  chain: Schema.String,
  created_at: Schema.String,
  mac: Schema.String
})

/** An entry as it is appended, with its link of the chain. */
export interface LinkedEntry {
  readonly entry: Draft
  readonly stamp: Stamp
  readonly chain: string
}

const valuesOf = ({ chain, entry, stamp }: LinkedEntry): ReadonlyArray<Parameter> => [
  entry.id,
  entry.log,
  stamp.seq,
  entry.org_id,
  entry.actor_type,
  entry.actor_id,
  entry.actor_name,
  entry.action,
  entry.resource_type,
  entry.resource_id,
  entry.ip_address,
  entry.metadata,
  stamp.created_at,
  chain
]

/** Several rows a statement: what may abort keeps what it changes to the side first, page by page, for each statement anew. */
const inserts = [16, 4, 1].map((rows) => ({
  rows,
  statement: `INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
    resource_id, ip_address, metadata, created_at, chain)
    VALUES ${Array.from({ length: rows }, () => "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")}`
}))

/** The audit tables' statements, for use inside a transaction. No statement updates or deletes an entry. */
export class AuditRepo extends Effect.Service<AuditRepo>()("@coffer/server/AuditRepo", {
  effect: Effect.gen(function* () {
    const { atCommit, run, savepoint } = yield* Statements
    const heads = rowsBy(run)(HeadRow)

    const head = (log: string) =>
      heads(`SELECT log, seq, chain, created_at, mac FROM audit_heads WHERE log = ?`, [log])[0]

    const insert = (entries: ReadonlyArray<LinkedEntry>): void => {
      let at = 0
      for (const { rows, statement } of inserts) {
        for (; at + rows <= entries.length; at += rows) {
          const values: Array<Parameter> = []
          for (const entry of entries.slice(at, at + rows)) values.push(...valuesOf(entry))
          run(statement, values)
        }
      }
    }

    const count = (entry: Draft, entries: number) =>
      run(
        `INSERT INTO audit_counters (log, actor_id, action, resource_type, entries) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (log, actor_id, action, resource_type) DO UPDATE SET entries = entries + excluded.entries`,
        [entry.log, entry.actor_id ?? "", entry.action, entry.resource_type, entries]
      )

    const setHead = (head: Head & { readonly mac: string }) =>
      run(
        `INSERT INTO audit_heads (log, seq, chain, created_at, mac) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, created_at = excluded.created_at,
          mac = excluded.mac`,
        [head.log, head.seq, head.chain, head.created_at, head.mac]
      )

    return { head, insert, count, setHead, savepoint, atCommit } as const
  })
}) {}
