import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { rowsOf } from "../database/Writer.js"
import type { ChainedEntry, Head } from "./Chain.js"

const HeadRow = Schema.Struct({
  log: Schema.String,
  seq: Schema.Number,
  chain: Schema.String,
  created_at: Schema.String,
  mac: Schema.String
})

const headsOf = rowsOf(HeadRow)

type Parameter = string | number | null

/**
 * A statement of the transaction that is open, straight to its connection: a read is recorded by a handful of these, and the
 * toolkit's own way to run one costs more than the statement.
 */
const execute = (statement: string, parameters: ReadonlyArray<Parameter>) =>
  Effect.flatMap(
    Effect.serviceOption(SqlClient.TransactionConnection),
    Option.match({
      onNone: () => Effect.dieMessage("the audit log is written outside of a transaction"),
      onSome: ([connection]) => connection.execute(statement, parameters, undefined)
    })
  )

/** The audit tables' statements, for use inside a transaction. No statement updates or deletes an entry. */
export class AuditRepo extends Effect.Service<AuditRepo>()("@coffer/server/AuditRepo", {
  sync: () =>
    ({
      head: (log: string) =>
        Effect.map(
          headsOf(execute("SELECT log, seq, chain, created_at, mac FROM audit_heads WHERE log = ?", [log])),
          (rows) => rows[0]
        ),

      insert: (entry: ChainedEntry & { readonly chain: string }) =>
        execute(
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
        ),

      count: (entry: Omit<ChainedEntry, "seq" | "created_at">, entries: number) =>
        execute(
          `INSERT INTO audit_counters (log, actor_id, action, resource_type, entries) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (log, actor_id, action, resource_type) DO UPDATE SET entries = entries + excluded.entries`,
          [entry.log, entry.actor_id ?? "", entry.action, entry.resource_type, entries]
        ),

      setHead: (head: Head & { readonly mac: string }) =>
        execute(
          `INSERT INTO audit_heads (log, seq, chain, created_at, mac) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, created_at = excluded.created_at,
            mac = excluded.mac`,
          [head.log, head.seq, head.chain, head.created_at, head.mac]
        )
    }) as const
}) {}
