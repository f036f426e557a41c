import type { DecryptionFailed } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { query } from "../database/Query.js"
import { Keyring, unwrapBytes, wrapBytes } from "./Keyring.js"
import { type NamedWrappedRow, WrappedRow } from "./WrappedRows.js"

type NamedRow = typeof NamedWrappedRow.Type

/**
 * Keys and passwords of the server, wrapped by the key-encryption key, each under a name: it opens under no other. They are rows of
 * `wrapped_keys`, which rotations of the master key, checks and copies cover.
 */
export const wrappedKeys = Effect.gen(function* () {
  const { first, write } = yield* query
  const keyring = yield* Keyring
  const find = first(WrappedRow)`SELECT format, kek_id, nonce, ciphertext FROM wrapped_keys WHERE name = ${"name"}`
  const insert = write`
    INSERT INTO wrapped_keys (name, format, kek_id, nonce, ciphertext)
    VALUES (${"name"}, ${"format"}, ${"kek_id"}, ${"nonce"}, ${"ciphertext"})`
  const remove = write`DELETE FROM wrapped_keys WHERE name = ${"name"}`

  const wrap = (name: string, bytes: Uint8Array): Effect.Effect<NamedRow> =>
    Effect.map(wrapBytes(keyring, name, bytes), (wrapped) => ({ name, ...wrapped }))

  return {
    /** Wraps bytes for `insert`. */
    wrap,

    insert,

    /** Wraps and inserts. */
    keep: (name: string, bytes: Uint8Array) => Effect.flatMap(wrap(name, bytes), insert),

    /** Returns null if there is none of this name. */
    read: (name: string): Effect.Effect<Uint8Array | null, DecryptionFailed> =>
      Effect.flatMap(find({ name }), (row) =>
        row === undefined ? Effect.succeed(null) : unwrapBytes(keyring, name, row)
      ),

    remove: (name: string) => remove({ name })
  } as const
})
