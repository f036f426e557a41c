import { makeKeyring, wrapBytes } from "@coffer/server/keys/Keyring"
import type { SqlClient } from "@effect/sql"
import { Effect, Redacted } from "effect"
import { masterKey } from "./Invariants.js"

/** Writes the check of the master key as programs did that had no list of audit logs. */
export const earlierCheck = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const keyring = yield* makeKeyring(Redacted.make(masterKey))
    const { ciphertext, nonce } = yield* wrapBytes(keyring, "check", Buffer.from("coffer master key check"))
    yield* sql`UPDATE wrapped_keys SET nonce = ${nonce}, ciphertext = ${ciphertext} WHERE name = 'check'`
  })
