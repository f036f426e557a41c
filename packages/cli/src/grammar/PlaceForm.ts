/** The argument of a command at an environment. Imports no schema: the fastest commands start with it. */
import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import { defined } from "@coffer/domain/base/Defined"
import * as Either from "effect/Either"
import { partsOf, pathForms } from "./PlacePath.js"
import { type Codec, completedBy, optionalArgument } from "./Specs.js"

/** The form of a place. Its names are read with the settings. */
const place: Codec<string> = {
  value: "text",
  description: "",
  decode: (name, text) =>
    partsOf(text, 3) === undefined ? Either.left(`${name} must be a place, ${pathForms.env}`) : Either.right(text)
}

/** The place of a command at an environment. */
export const optionalPlace = completedBy(
  "env-path",
  optionalArgument("PLACE", place, `Where: ${pathForms.env}; what is left out comes from the settings`)
)

/** The setting that the argument of `optionalPlace` gives. */
export const inPlace = ({ place }: { readonly place: string | undefined }): CommandLineSettings =>
  defined({ env: place })
