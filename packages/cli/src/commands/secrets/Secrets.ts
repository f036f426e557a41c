import { ReadVersionParameter } from "@coffer/domain/Secret"
import { SecretKey } from "@coffer/domain/Names"
import { ExpectedVersionParameter } from "@coffer/domain/Schemas"
import type { SecretListed } from "@coffer/domain/Secret"
import { Effect, Redacted, Schema } from "effect"
import { defined } from "../../Defined.js"
import { atEnv, group, yes } from "../../grammar/Command.js"
import { argument, flag, option, secretArgument } from "../../grammar/Fields.js"
import { toTerminal, write, writeValues } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { exportSecrets, importSecrets } from "./SecretFiles.js"
import { destroy, rollback, undelete, versions } from "./SecretHistory.js"
import { readValue } from "./SecretInput.js"

const key = argument("KEY", SecretKey, "The secret's key")

const columns = {
  key: (secret: SecretListed) => secret.key,
  version: (secret: SecretListed) => secret.version,
  updated: (secret: SecretListed) => secret.updated_at
}

const list = atEnv("list", {
  description: "List the keys, without values",
  examples: ["coffer secret list", "coffer secret list --env prod --json"],
  options: {},
  run: ({ call, path }) =>
    Effect.map(
      call("secrets", (api) => api.list({ path })),
      (secrets) => listView(secrets, columns, "there are no secrets; store one with: coffer secret set KEY")
    )
})

const get = atEnv("get", {
  description: "Print a value: byte for byte; on a terminal with a final newline, and control characters as escapes",
  examples: ["coffer secret get API_KEY > key.txt", "coffer secret get API_KEY --at 1"],
  options: {
    key,
    at: option("at", ReadVersionParameter),
    raw: flag("raw", "On a terminal, write control characters of the value as they are")
  },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const urlParams = defined({ version: options.at })
      const secret = yield* call("secrets", (api) => api.get({ path: { ...path, key: options.key }, urlParams }))
      const value = Redacted.value(secret.value)
      const content = (yield* toTerminal) ? `${value}\n` : value
      const text = options.raw ? write(content) : writeValues(content, "--raw writes them as they are")
      return { json: { ...secret, value }, text }
    })
})

const ifVersion = option(
  "if-version",
  ExpectedVersionParameter,
  "Only when this is the current version; 0 when the key must not be there yet"
)

const set = atEnv("set", {
  description: "Store a value: the argument, else --file, else standard input, else what you type and nobody sees",
  examples: ["coffer secret set API_KEY < key.txt", "coffer secret set API_KEY --file key.txt --if-version 3"],
  options: {
    key,
    value: secretArgument(
      "VALUE",
      "The value (after -- if it begins with a hyphen), or - for standard input, of which a final newline is part; others on this machine can see arguments, and they stay in the shell's history"
    ),
    file: option(
      "file",
      Schema.String,
      "Take the value from this file, or for - from standard input; a final newline is part of the value"
    ),
    allowEmpty: flag("allow-empty", "Store the empty text where nothing is typed, or standard input is empty"),
    ifVersion
  },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const payload = {
        value: yield* readValue(options.key, options.value, options.file, options.allowEmpty),
        ...defined({ expected_version: options.ifVersion })
      }
      const written = yield* call("secrets", (api) => api.set({ path: { ...path, key: options.key }, payload }))
      const place = `${path.project_name}/${path.env_name}`
      return doneView(`${written.key} stored in ${place} as version ${written.version}`, written)
    })
})

const remove = atEnv("delete", {
  description: "Delete a secret",
  examples: ["coffer secret delete API_KEY", "coffer secret delete API_KEY --yes --if-version 3"],
  options: { key, yes, ifVersion },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const place = `${path.project_name}/${path.env_name}`
      yield* confirm(`Delete ${options.key} from ${place}?`, options.yes)
      const urlParams = defined({ expected_version: options.ifVersion })
      yield* call("secrets", (api) => api.delete({ path: { ...path, key: options.key }, urlParams }))
      return doneView(`${options.key} deleted from ${place}`)
    })
})

export const secretCommand = group("secret", "Secrets of an environment", [
  list,
  get,
  set,
  remove,
  versions,
  rollback,
  undelete,
  destroy,
  importSecrets,
  exportSecrets
])
