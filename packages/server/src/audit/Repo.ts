import { Effect, Schema } from "effect"
import { Statements } from "../database/Client.js"
import { rowsBy } from "../database/Row.js"
import type { ChainedEntry, Head } from "./Chain.js"

const HeadRow = Schema.Struct({
  log: Schema.String,
  seq: Schema.Number,
  chain: Schema.String,
  created_at: Schema.String,
  mac: Schema.String
})

/** The audit tables' statements, for use inside a transaction. No statement updates or deletes an entry. */
export class AuditRepo extends Effect.Service<AuditRepo>()("@coffer/server/AuditRepo", {
  effect: Effect.gen(function* () {
    const { atCommit, run, savepoint } = yield* Statements
    const heads = rowsBy(run)(HeadRow)

    const head = (log: string) =>
      heads(`SELECT log, seq, chain, created_at, mac FROM audit_heads WHERE log = ?`, [log])[0]

    const insert = (entry: ChainedEntry & { readonly chain: string }) =>
      run(
        `INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
          resource_id, ip_address, metadata, created_at, chain)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          entry.id,
          entry.log,
          entry.seq,
          entry.org_id,
          entry.actor_type,
          entry.actor_id,
          entry.actor_name,
          entry.action,
          entry.resource_type,
          entry.resource_id,
          entry.ip_address,
          entry.metadata,
          entry.created_at,
          entry.chain
        ]
      )

    const count = (entry: Omit<ChainedEntry, "seq" | "created_at">, entries: number) =>
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
