import { maxBundleKeys } from "@coffer/domain/api/EnvironmentsApi"
import { LimitExceeded } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"

const maxSecrets = maxBundleKeys
const maxValueBytes = 8 * 1024 * 1024

/** Fails if a change would grow an environment beyond its limits. Changes that shrink a full one are allowed. */
export const checkLimits = (
  before: { readonly secret_count: number; readonly value_bytes: number },
  after: { readonly secret_count: number; readonly value_bytes: number }
): Effect.Effect<void, LimitExceeded> => {
  if (after.secret_count > maxSecrets && after.secret_count > before.secret_count) {
    return new LimitExceeded({ message: `an environment has at most ${maxSecrets} secrets` })
  }
  if (after.value_bytes > maxValueBytes && after.value_bytes > before.value_bytes) {
    return new LimitExceeded({ message: "the values of an environment have at most 8 MiB together" })
  }
  return Effect.void
}
