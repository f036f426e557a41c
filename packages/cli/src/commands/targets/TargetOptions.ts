import { SecretKey, TargetName } from "@coffer/domain/base/Names"
import { KeyPattern } from "@coffer/domain/secrets/KeyPatterns"
import { TargetAutomation, TargetKind, TargetPrefix, TargetRemoval } from "@coffer/domain/secrets/Target"
import * as Either from "effect/Either"
import { argument, option, repeatedOption, requiredOption } from "../../grammar/Fields.js"
import type { Codec } from "../../grammar/Specs.js"

/** `name=text`. */
const pair = (example: string): Codec<readonly [name: string, text: string]> => ({
  value: "text",
  description: "",
  decode: (name, given) => {
    const at = given.indexOf("=")
    return at > 0
      ? Either.right([given.slice(0, at), given.slice(at + 1)] as const)
      : Either.left(`${name} must be NAME=TEXT, as in ${example}`)
  }
})

export const name = argument("NAME", TargetName, "The target's name")

export const createFields = {
  name,
  kind: requiredOption("kind", TargetKind, "The platform"),
  place: repeatedOption(
    "place",
    pair("mount=secret"),
    "A part of the place there, such as mount=secret; docs/delivery.md lists those of each platform"
  ),
  credential: requiredOption("credential", SecretKey, "The key of the secret that authenticates there"),
  prefix: option("prefix", TargetPrefix, "A text before each name there"),
  keys: repeatedOption(
    "key",
    KeyPattern,
    "A key to push, or a pattern such as 'DB_*'; may be given again; all, unless given"
  ),
  rename: repeatedOption("rename", pair("DB_URL=DATABASE_URL"), "The name of a key there; may be given again"),
  remove: option(
    "remove",
    TargetRemoval,
    "Whether what left is removed there, if Coffer wrote it: own or never; default: never"
  ),
  automatic: option(
    "automatic",
    TargetAutomation,
    "Whether the server pushes by itself: off, push (each change here) or repair (also what was changed there)"
  )
}
