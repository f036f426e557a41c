import { randomInt } from "node:crypto"
import type { RotationId } from "@coffer/domain/base/Ids"
import type { DecryptionFailed } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Transaction } from "../../database/Database.js"
import { wrappedKeys } from "../../keys/WrappedKeys.js"

interface Draw {
  readonly id: RotationId
  readonly draw: number
}

/** A password of characters that are drawn one by one, each with the same chance. */
export const drawPassword = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("")

/** Passwords under names of their own, sealed. */
export const sealedPasswords = <Of>(nameOf: (of: Of) => string) =>
  Effect.map(
    wrappedKeys,
    (keys) =>
      ({
        keep: (of: Of, password: string): Effect.Effect<void, never, Transaction> =>
          keys.keep(nameOf(of), Buffer.from(password)),

        read: (of: Of): Effect.Effect<Redacted.Redacted, DecryptionFailed> =>
          Effect.flatMap(keys.read(nameOf(of)), (bytes) =>
            bytes === null
              ? Effect.dieMessage("a drawn password does not exist")
              : Effect.succeed(Redacted.make(Buffer.from(bytes).toString()))
          ),

        forget: (of: Of) => keys.remove(nameOf(of))
      }) as const
  )

/** The passwords that were drawn and are not written yet: sealed before a database sees them, so that none is lost. */
export const drawnPasswords = sealedPasswords(({ draw, id }: Draw) => `rotation/${id}/${draw}`)
