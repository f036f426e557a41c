import { toolNames } from "@coffer/domain/formats/tools/ToolNames"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { yes } from "../../changes/BulkChange.js"
import { asking } from "../../grammar/Command.js"
import { argument, option, optionalArgument, repeatedOption } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import type { Codec } from "../../grammar/Specs.js"

/** `A=B`. What stands in front of the last `=` may be any name of the tool. */
const renaming: Codec<readonly [string, string]> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const [, from, to] = /^(.+)=([^=]+)$/s.exec(text) ?? []
    return from === undefined || to === undefined ? Either.left(`${name} takes OLD=NEW`) : Either.right([from, to])
  }
}

export const options = {
  tool: argument("TOOL", Schema.Literal(...toolNames), `The tool: ${toolNames.join(", ")}`),
  file: optionalArgument(
    "FILE",
    Schema.NonEmptyString,
    "What the tool printed; - reads standard input. Without it, read live: doppler, infisical, vault, kubernetes"
  ),
  from: option(
    "from",
    Schema.NonEmptyString,
    "Of a live import, where to read: PROJECT, PROJECT/CONFIG, MOUNT, MOUNT/PATH or a namespace"
  ),
  map: repeatedOption("map", renaming, "An environment of the tool and its name here, such as prd=prod"),
  projectMap: repeatedOption("project-map", renaming, "A project of the tool and its name here"),
  mapKey: repeatedOption("map-key", renaming, "A key of the tool, or its path in the document, and its name here"),
  separator: option("separator", Schema.String, "What joins the names of nested keys (default: __)"),
  split: flag("split", "Of aws-sm and vault: make a key of each member of a value that is an object"),
  base64: flag("base64", "Keep binary values as base64 text"),
  plan: flag("plan", "Show what would be written, and write nothing (the default)"),
  apply: flag("apply", "Write it: each environment in one transaction"),
  skipUnsupported: flag("skip-unsupported", "Leave out what cannot be stored"),
  yes,
  ...asking
}
