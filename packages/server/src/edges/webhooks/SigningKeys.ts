import type { DecryptionFailed } from "@coffer/domain/errors/Errors"
import type { WebhookId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { query } from "../../database/Query.js"
import { Keyring, unwrapBytes, wrapBytes } from "../../keys/Keyring.js"
import { mintToken } from "../../keys/Token.js"
import { WrappedRow } from "../../keys/WrappedRows.js"

const nameOf = (id: WebhookId, number: number): string => `webhook/${id}/${number}`

/** The keys that sign deliveries. They are rows of `wrapped_keys`, which rotations, checks and copies cover. */
export class SigningKeys extends Effect.Service<SigningKeys>()("@coffer/server/SigningKeys", {
  effect: Effect.gen(function* () {
    const { first, write } = yield* query
    const keyring = yield* Keyring

    const find = first(WrappedRow)`SELECT format, kek_id, nonce, ciphertext FROM wrapped_keys WHERE name = ${"name"}`
    const insert = write`
      INSERT INTO wrapped_keys (name, format, kek_id, nonce, ciphertext)
      VALUES (${"name"}, ${"format"}, ${"kek_id"}, ${"nonce"}, ${"ciphertext"})`
    const remove = write`DELETE FROM wrapped_keys WHERE name = ${"name"}`

    return {
      /** Makes a webhook's key with this number. Returns it: it is not shown again. */
      make: Effect.fnUntraced(function* (id: WebhookId, number: number) {
        const key = yield* mintToken("webhook")
        const name = nameOf(id, number)
        const { ciphertext, format, kek_id, nonce } = yield* wrapBytes(keyring, name, Buffer.from(Redacted.value(key)))
        yield* insert({ name, format, kek_id, nonce, ciphertext })
        return key
      }),

      /** Returns a key; null if it was removed. */
      read: (id: WebhookId, number: number): Effect.Effect<Redacted.Redacted | null, DecryptionFailed> => {
        const name = nameOf(id, number)
        return Effect.flatMap(find({ name }), (row) =>
          row === undefined
            ? Effect.succeed(null)
            : Effect.map(unwrapBytes(keyring, name, row), (bytes) => Redacted.make(Buffer.from(bytes).toString()))
        )
      },

      remove: (id: WebhookId, number: number) => remove({ name: nameOf(id, number) })
    } as const
  })
}) {}
