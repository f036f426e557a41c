import { LimitExceeded } from "@coffer/domain/Errors"
import { Effect, Either, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { turn } from "../Turn.js"
import { Keyring } from "./Keyring.js"

/** How many random nonces one key is good for (NIST SP 800-38D, section 8.3). */
export const maxWraps = 2 ** 32
const warnAt = 0.8 * maxWraps
const stride = 5_000

const PlaceRow = Schema.Struct({ secret_id: Schema.String, version: Schema.Number })
const CountRow = Schema.Struct({ versions: Schema.Number })

const after = "kek_id = ? AND (secret_id, version) > (?, ?)"

/** What is left of the key-encryption key's wraps, as last counted; a write beyond them is refused. */
export class WrapBudget extends Effect.Service<WrapBudget>()("@coffer/server/WrapBudget", {
  effect: Effect.gen(function* () {
    const reader = yield* Reader
    const { kekId } = yield* Keyring
    let counted = 0
    const places = reader.rows(PlaceRow)
    const counts = reader.rows(CountRow)

    /** Counts the versions under the current key, a stretch at a time so that other work gets its turn. */
    const count = Effect.gen(function* () {
      let total = 0
      let last = { secret_id: "", version: 0 }
      for (;;) {
        const parameters = [kekId, last.secret_id, last.version]
        const [place] = yield* places(
          `SELECT secret_id, version FROM secret_versions WHERE ${after} ORDER BY secret_id, version LIMIT 1 OFFSET ?`,
          [...parameters, stride - 1]
        )
        if (place === undefined) {
          const [rest] = yield* counts(`SELECT count(*) AS versions FROM secret_versions WHERE ${after}`, parameters)
          total += rest?.versions ?? 0
          break
        }
        total += stride
        last = place
        yield* turn
      }
      counted = total
      if (total >= warnAt) {
        yield* Effect.logWarning(
          `the key-encryption key has wrapped ${total} data keys of at most ${maxWraps}: rotate the master key soon`
        )
      }
      return total
    })

    /** Left with LimitExceeded when the key has wrapped as much as it may. */
    const check = (): Either.Either<void, LimitExceeded> =>
      counted < maxWraps
        ? Either.void
        : Either.left(
            new LimitExceeded({
              message:
                "the key-encryption key has wrapped as many data keys as it may: the operator has to rotate the master key"
            })
          )

    return { count, check } as const
  })
}) {}
