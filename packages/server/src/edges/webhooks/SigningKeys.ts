import type { DecryptionFailed } from "@coffer/domain/errors/Errors"
import type { WebhookId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { mintToken } from "../../keys/Token.js"
import { wrappedKeys } from "../../keys/WrappedKeys.js"

const nameOf = (id: WebhookId, number: number): string => `webhook/${id}/${number}`

/** The keys that sign deliveries. */
export class SigningKeys extends Effect.Service<SigningKeys>()("@coffer/server/SigningKeys", {
  effect: Effect.gen(function* () {
    const keys = yield* wrappedKeys

    return {
      /** Makes a webhook's key with this number. Returns it: it is not shown again. */
      make: Effect.fnUntraced(function* (id: WebhookId, number: number) {
        const key = yield* mintToken("webhook")
        yield* keys.keep(nameOf(id, number), Buffer.from(Redacted.value(key)))
        return key
      }),

      /** Returns a key; null if it was removed. */
      read: (id: WebhookId, number: number): Effect.Effect<Redacted.Redacted | null, DecryptionFailed> =>
        Effect.map(keys.read(nameOf(id, number)), (bytes) =>
          bytes === null ? null : Redacted.make(Buffer.from(bytes).toString())
        ),

      remove: (id: WebhookId, number: number) => keys.remove(nameOf(id, number))
    } as const
  })
}) {}
