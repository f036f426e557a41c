import type { BadSetting } from "@coffer/client/internal/Variables"
import type { PlaceName } from "@coffer/domain/formats/tools/Places"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { CannotDo, WrongUsage } from "../../../base/Failures.js"

/** A document that a tool's API or program returned. */
export interface LiveDocument {
  /** Its name in messages. */
  readonly name: string
  readonly text: Redacted.Redacted
  /** Where the tool keeps it, unless the document says it. */
  readonly place?: PlaceName
}

/** Reads from a tool itself. */
export type Live = (
  from: string | undefined
) => Effect.Effect<ReadonlyArray<LiveDocument>, BadSetting | CannotDo | WrongUsage, Scope.Scope>
