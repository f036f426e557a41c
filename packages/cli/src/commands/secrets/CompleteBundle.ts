import { ReferenceRefused } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"
import { type Bundle, type BundledSecret, type BundleObject, listOf } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"

/**
 * Returns the secrets of a bundle without the keys `except`. Fails with ReferenceRefused if references of other keys lead to no
 * value, and names these keys.
 */
export const requireComplete = (
  bundle: Bundle | BundleObject | void,
  except: ReadonlyArray<SecretKey> = []
): Effect.Effect<ReadonlyArray<BundledSecret>, ReferenceRefused> => {
  const found: Pick<Bundle, "data" | "errors"> = listOf(bundle) ?? { data: [] }
  const left = new Set(except)
  const data = found.data.filter(({ key }) => !left.has(key))
  const errors = found.errors?.filter(({ key }) => !left.has(key)) ?? []
  return errors.length === 0
    ? Effect.succeed(data)
    : new ReferenceRefused({ message: errors.map(({ message }) => message).join("; ") })
}
