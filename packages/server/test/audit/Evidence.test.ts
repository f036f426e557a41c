import { readFileSync } from "node:fs"
import { SecretKey } from "@coffer/domain/base/Names"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
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
  {
    fact: "the index of the log",
    found: "verify",
    sql: "UPDATE audit_places SET project = 'x' WHERE project <> ''"
  },
  { fact: "the totals of the log", found: "nothing", sql: "UPDATE audit_place_counters SET entries = entries + 1" }
]

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

  it("has a row in docs/security.md for each fact", () => {
    for (const { fact } of changes) assert.isTrue(documented.has(fact), fact)
  })
})
