import type { Leaf } from "../../grammar/Command.js"
import { edit } from "./SecretEdit.js"
import { get } from "./SecretGet.js"
import { list } from "./SecretList.js"
import { set } from "./SecretSet.js"

/** A command of `secret` that also stands alone, as it is used every day. */
const daily = (leaf: Leaf, name: string, examples: ReadonlyArray<string>): Leaf => ({
  ...leaf,
  name,
  description: `${leaf.description}; short for coffer secret ${leaf.name}`,
  examples
})

export const dailyCommands = [
  daily(set, "set", [
    "coffer set LOG_LEVEL=debug PORT=8080",
    "coffer set API_KEY < key.txt",
    "coffer set TOKEN --generate"
  ]),
  daily(get, "get", ["coffer get API_KEY", "coffer get API_KEY --clip", "coffer get API_KEY -e webshop/dev"]),
  daily(list, "ls", ["coffer ls", "coffer ls webshop/prod", "coffer ls --all-envs"]),
  daily(edit, "edit", ["coffer edit", "coffer edit API_KEY DATABASE_URL"])
] as const
