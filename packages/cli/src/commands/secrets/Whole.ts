import { ReferenceRefused } from "@coffer/domain/Errors"
import { type Bundle, type BundledSecret, type BundleObject, listOf } from "@coffer/domain/Secret"
import { Effect } from "effect"

/** The secrets of a bundle. Fails with ReferenceRefused, naming every key whose references lead to no value. */
export const wholeOf = (
  bundle: Bundle | BundleObject | void
): Effect.Effect<ReadonlyArray<BundledSecret>, ReferenceRefused> => {
  const { data, errors = [] }: Pick<Bundle, "data" | "errors"> = listOf(bundle) ?? { data: [] }
  return errors.length === 0
    ? Effect.succeed(data)
    : new ReferenceRefused({ message: errors.map(({ message }) => message).join("; ") })
}
