import { beginEpoch } from "@coffer/server/operations/rotation/BeginEpoch"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { raw, onDatabase, transaction } from "../support/Services.js"

/** Tables with secrets or rights that last for a while, and what a new epoch does with them. */
const tables: Readonly<Record<string, "emptied" | "ended" | `kept: ${string}`>> = {
  sessions: "emptied",
  delegations: "emptied",
  login_groups: "emptied",
  provider_groups: "emptied",
  group_logins: "emptied",
  consents: "kept: of delegations that are emptied",
  passkey_challenges: "kept: of sessions that are emptied",
  key_sessions: "emptied",
  federated_sessions: "emptied",
  login_codes: "ended",
  client_logins: "ended",
  approvals: "ended",
  requests: "ended",
  scim_tokens: "kept: directories use them, and the documents say so",
  scim_endings: "kept: what a membership had, each until its end",
  api_keys: "kept: programs use them, and the documents say so",
  federations: "kept: they hold no secret, and end by themselves",
  use_rules: "kept: they hold no secret, and end by themselves",
  audit_heads: "kept: their MACs prove the log",
  audit_starts: "kept: their MACs prove which entries left the log",
  secret_dues: "kept: dates of secrets",
  acl_rules: "kept: as those that last, each until its end",
  environments: "kept: each until its end, as those that last",
  exports: "emptied",
  imports: "kept: hidden, and removed at their end",
  freed_names: "kept: names that need votes, each until its end",
  leases: "emptied",
  jobs: "kept: leases of servers, which take them again"
}

describe("a new epoch, of a database that was restored or copied,", () => {
  it.effect("is known to every table with a token, or with what is valid only for a while", () =>
    Effect.gen(function* () {
      const db = yield* raw
      const found = db
        .prepare<[], string>(
          `SELECT DISTINCT t.name FROM sqlite_schema t, pragma_table_info(t.name) c
            WHERE t.type = 'table' AND (c.name LIKE '%hash' OR c.name = 'mac' OR c.name IN ('expires_at', 'until'))
            ORDER BY 1`
        )
        .pluck()
        .all()
      assert.includeMembers(Object.keys(tables), found)
    }).pipe(onDatabase())
  )

  it.effect("ends the sessions of machines and of people, and what people have approved", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const later = "2999-01-01T00:00:00.000Z"
      const db = yield* raw
      db.pragma("foreign_keys = OFF")
      const insert = (table: string, row: Readonly<Record<string, string | null>>) =>
        db
          .prepare(
            `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
              .map(() => "?")
              .join()})`
          )
          .run(...Object.values(row))
      const session = { token_hash: "h", ip_address: null, created_at: later, expires_at: later }
      insert("key_sessions", { id: "1", key_id: "k", ...session })
      insert("federated_sessions", { id: "1", federation_id: "f", service_account_id: "a", subject: "s", ...session })
      const request = { org_id: "o", env_id: "e", actor_id: "a", actor_name: "a", hash: "h", request: "{}" }
      for (const state of ["pending", "approved", "used"]) {
        insert("approvals", { id: state, ...request, state, created_at: later, expires_at: later })
      }
      assert.deepInclude(yield* transaction(beginEpoch), { sessions: 2 })
      for (const table of ["sessions", "key_sessions", "federated_sessions"]) {
        assert.deepStrictEqual(yield* sql`SELECT * FROM ${sql(table)}`, [], table)
      }
      const states = yield* sql<{ state: string }>`SELECT state FROM approvals ORDER BY id`
      assert.deepStrictEqual(
        states.map(({ state }) => state),
        ["refused", "refused", "used"]
      )
      db.exec("DELETE FROM approvals")
    }).pipe(onDatabase())
  )
})
