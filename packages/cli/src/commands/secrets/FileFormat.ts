import * as Schema from "effect/Schema"
import { formatNames } from "@coffer/domain/formats/FormatNames"
import { option } from "../../grammar/Fields.js"

export const fileFormat = option(
  "format",
  Schema.Literal(...formatNames),
  "The file's format (default: by its extension, .env, .sh, .json, .yaml or .yml)"
)

export const unknownFormat = (name: string) =>
  `the format of ${name} is not known: add --format with one of ${formatNames.join(", ")}`
