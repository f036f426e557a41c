import { randomInt } from "node:crypto"
import type { RotationId } from "@coffer/domain/base/Ids"
import type { DecryptionFailed } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Transaction } from "../../database/Database.js"
import { query } from "../../database/Query.js"
import { Keyring, unwrapBytes, wrapBytes } from "../../keys/Keyring.js"
import { WrappedRow } from "../../keys/WrappedRows.js"

interface Draw {
  readonly id: RotationId
  readonly draw: number
}

const nameOf = ({ draw, id }: Draw): string => `rotation/${id}/${draw}`

/** A password of characters that are drawn one by one, each with the same chance. */
export const drawPassword = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("")

/**
 * The passwords that were drawn and are not written yet: sealed before a database sees them, so that none is lost. They are rows of
 * `wrapped_keys`, which rotations of the master key, checks and copies cover.
 */
export const drawnPasswords = Effect.gen(function* () {
  const { first, write } = yield* query
  const keyring = yield* Keyring

  const find = first(WrappedRow)`SELECT format, kek_id, nonce, ciphertext FROM wrapped_keys WHERE name = ${"name"}`
  const insert = write`
    INSERT INTO wrapped_keys (name, format, kek_id, nonce, ciphertext)
    VALUES (${"name"}, ${"format"}, ${"kek_id"}, ${"nonce"}, ${"ciphertext"})`
  const remove = write`DELETE FROM wrapped_keys WHERE name = ${"name"}`

  return {
    keep: (of: Draw, password: string): Effect.Effect<void, never, Transaction> =>
      Effect.flatMap(wrapBytes(keyring, nameOf(of), Buffer.from(password)), ({ ciphertext, format, kek_id, nonce }) =>
        insert({ name: nameOf(of), format, kek_id, nonce, ciphertext })
      ),

    read: (of: Draw): Effect.Effect<Redacted.Redacted, DecryptionFailed> =>
      Effect.flatMap(find({ name: nameOf(of) }), (row) =>
        row === undefined
          ? Effect.dieMessage("a drawn password does not exist")
          : Effect.map(unwrapBytes(keyring, nameOf(of), row), (bytes) => Redacted.make(Buffer.from(bytes).toString()))
      ),

    forget: (of: Draw) => remove({ name: nameOf(of) })
  } as const
})
