import { readFileSync } from "node:fs"
import { SecretKey } from "@coffer/domain/base/Names"
import { query } from "@coffer/server/database/Query"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { onDamagedFile } from "../model/Support.js"
import { verify } from "../trail/Support.js"
import { enter, organization, outcome, readSecret, removeSecret, setSecret } from "../support/Services.js"

/** The table of docs/security.md, What is evidence: each fact, and what finds its change. */
const documented = new Map(
  readFileSync(new URL("../../../../docs/security.md", import.meta.url), "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, fact, found] = /^\| ([^|]+?) +\| ([^|]+?) +\| [^|]+\|$/.exec(line) ?? []
      return fact === undefined || found === undefined ? [] : [[fact, found] as const]
    })
)

type Found = "verify" | "a read" | "nothing"

interface Change {
  /** A statement of a program that has the file. */
  readonly sql: string
  readonly fact: string
  readonly found: Found
}

const withoutTriggers = [
  "DROP TRIGGER IF EXISTS audit_entries_no_update",
  "DROP TRIGGER IF EXISTS audit_entries_no_delete"
]

const changes: ReadonlyArray<Change> = [
  {
    fact: "an entry of the audit log",
    found: "verify",
    sql: "UPDATE audit_entries SET actor_name = 'x' WHERE action = 'secret.set'"
  },
  {
    fact: "an entry of the audit log",
    found: "verify",
    sql: "UPDATE audit_entries SET metadata = '{}' WHERE action = 'secret.set'"
  },
  { fact: "the end of a log", found: "verify", sql: "UPDATE audit_heads SET seq = seq + 1" },
  {
    fact: "the start of a log, behind entries in archives",
    found: "verify",
    sql: "INSERT INTO audit_starts (log, seq, chain, mac) SELECT log, seq, chain, chain FROM audit_entries WHERE seq = 1"
  },
  { fact: "which archives there are", found: "nothing", sql: "DELETE FROM audit_archives" },
  { fact: "a value", found: "a read", sql: "UPDATE secret_versions SET ciphertext = wrapped_key" },
  {
    fact: "the place, key and version number of a value",
    found: "a read",
    sql: "UPDATE secrets SET key = 'B' WHERE key = 'A'"
  },
  {
    fact: "the author, time and revision of a version",
    found: "nothing",
    sql: "UPDATE secret_versions SET created_by = 'x'"
  },
  {
    fact: "the author, time and revision of a version",
    found: "nothing",
    sql: "UPDATE secret_versions SET created_at = '2020-01-01T00:00:00.000Z'"
  },
  { fact: "the changes of an environment", found: "nothing", sql: "UPDATE secret_changes SET created_by = 'x'" },
  { fact: "the changes of an environment", found: "nothing", sql: "DELETE FROM secret_changes" },
  {
    fact: "that a secret was removed",
    found: "nothing",
    sql: "UPDATE secrets SET removed_at = NULL, removed_revision = NULL WHERE key = 'GONE'"
  },
  { fact: "who may do what", found: "nothing", sql: "UPDATE users SET superadmin = 1" },
  { fact: "who refers to a secret", found: "nothing", sql: "DELETE FROM secret_references" },
  { fact: "use rules, due dates and notes", found: "nothing", sql: "DELETE FROM use_rules" },
  { fact: "use rules, due dates and notes", found: "nothing", sql: "DELETE FROM secret_dues" },
  { fact: "protections, requests and votes", found: "nothing", sql: "UPDATE environments SET protected = 0" },
  { fact: "protections, requests and votes", found: "nothing", sql: "DELETE FROM request_votes" },
  { fact: "connections, rotations, roles and leases", found: "nothing", sql: "UPDATE connections SET host = 'x'" },
  { fact: "connections, rotations, roles and leases", found: "nothing", sql: "UPDATE rotations SET users = '[]'" },
  { fact: "connections, rotations, roles and leases", found: "nothing", sql: "UPDATE lease_roles SET max_ttl = '30d'" },
  { fact: "connections, rotations, roles and leases", found: "nothing", sql: "UPDATE leases SET expires_at = 1" },
  { fact: "declared keys, previews, webhooks and targets", found: "nothing", sql: "DELETE FROM declared_keys" },
  { fact: "what can be restored, and until when", found: "nothing", sql: "UPDATE trash SET restorable_until = 1" },
  {
    fact: "the index of the log",
    found: "verify",
    sql: "UPDATE audit_places SET project = 'x' WHERE project <> ''"
  },
  { fact: "the totals of the log", found: "nothing", sql: "UPDATE audit_place_counters SET entries = entries + 1" }
]

/** The tables that each fact is stored in, beside those of `changes`. */
const more: Readonly<Record<string, ReadonlyArray<string>>> = {
  "the end of a log": ["audit_logs"],
  "the start of a log, behind entries in archives": ["audit_starts"],
  "the place, key and version number of a value": ["organizations", "projects", "environments"],
  "the changes of an environment": ["secret_changes_since"],
  "use rules, due dates and notes": ["use_rule_accounts", "revision_notes"],
  "protections, requests and votes": [
    "protections",
    "requests",
    "request_parts",
    "approvals",
    "exports",
    "freed_names"
  ],
  "declared keys, previews, webhooks and targets": ["previews", "webhooks", "targets", "target_keys", "target_sources"],
  "who may do what": [
    ...["members", "groups", "group_members", "group_mappings", "login_groups", "provider_groups", "acl_rules"],
    ...["service_accounts", "api_keys", "federations", "federation_keys", "federated_sessions"],
    ...["delegations", "delegation_environments", "consents", "identities", "passkeys", "sessions"],
    ...["scim_tokens", "scim_users", "scim_groups", "scim_group_members", "scim_endings"]
  ],
  "the index of the log": ["audit_actors", "audit_indexed", "audit_place_keys", "audit_postings", "audit_times"]
}

/** Tables that hold no fact about people or secrets: the server works with them, and what they say ends by itself. */
const noFacts = [
  ...["drills", "group_logins", "imports", "import_use_people", "instance", "instances", "jobs"],
  ...["restores", "wrap_counts", "wrapped_keys", "effect_sql_migrations"],
  ...["client_logins", "key_sessions", "login_codes", "login_failures", "passkey_challenges", "rate_events"],
  ...["due_mails", "stream_places", "webhook_deliveries"]
]

const NameRow = Schema.Struct({ name: Schema.String })

describe("a change of the database by a program without the master key", () => {
  for (const { fact, found, sql } of changes) {
    it.effect(`is found by ${found}: ${fact} (${sql})`, () =>
      Effect.gen(function* () {
        assert.strictEqual(documented.get(fact), found, `${fact} in docs/security.md`)
        const ada = yield* organization()
        yield* setSecret(ada, "A", "one")
        yield* setSecret(ada, "GONE", "two")
        yield* removeSecret(ada, "GONE")
        const log = { actor: ada, id: (yield* enter(ada, "secret.read")).org.id, name: "acme" }
        assert.isTrue((yield* verify(log)).valid)

        const client = yield* SqlClient.SqlClient
        for (const statement of [...withoutTriggers, sql]) yield* client.unsafe(statement)
        const valid = (yield* verify(log)).valid
        const read = yield* outcome(
          Effect.asVoid(readSecret(ada, sql.includes("'B'") ? SecretKey.make("B") : SecretKey.make("A")))
        )
        const noticed: Found = !valid ? "verify" : read === "DecryptionFailed" ? "a read" : "nothing"
        assert.strictEqual(noticed, found)
      }).pipe(onDamagedFile)
    )
  }

  it.effect("has a fact for each table, or the table is one that the server works with", () =>
    Effect.gen(function* () {
      const { all } = yield* query
      const found = yield* all(NameRow)`
        SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`({})
      const named = changes.flatMap(({ sql }) => /^(?:UPDATE|DELETE FROM) ([a-z_]+)/.exec(sql)?.[1] ?? [])
      const known = new Set([...named, ...Object.values(more).flat(), ...noFacts])
      assert.deepStrictEqual(
        found.map(({ name }) => name).filter((name) => !known.has(name)),
        []
      )
      const tables = new Set(found.map(({ name }) => name))
      assert.deepStrictEqual(
        [...known].filter((name) => !tables.has(name)),
        []
      )
      for (const fact of Object.keys(more)) assert.isTrue(documented.has(fact), fact)
    }).pipe(onDamagedFile)
  )

  it("has a row in docs/security.md for each fact", () => {
    for (const { fact } of changes) assert.isTrue(documented.has(fact), fact)
  })
})
