import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { SecretKey } from "@coffer/domain/Names"
import { ExpectedVersionParameter, VersionParameter } from "@coffer/domain/Schemas"
import type { SecretListed } from "@coffer/domain/Secret"
import { Effect, Option, Redacted } from "effect"
import { printDone, printJson, printList, printRecord, toTerminal, write, writeValues } from "../Output.js"
import { confirm } from "../Prompts.js"
import { readValue } from "../SecretInput.js"
import { wholeNumber } from "./Checked.js"
import { exportCommand, importCommand } from "./SecretFiles.js"
import { destroyCommand, rollbackCommand, undeleteCommand, versionsCommand } from "./SecretHistory.js"
import { argument, atEnv, connect, settingsOf, yes } from "./Shared.js"

const key = argument("KEY", SecretKey, "The secret's key")

const columns = {
  key: (secret: SecretListed) => secret.key,
  version: (secret: SecretListed) => secret.version,
  updated: (secret: SecretListed) => secret.updated_at
}

const list = Command.make("list", atEnv, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.envPath
    const client = yield* connect(yield* settings.server)
    const secrets = yield* client.call("secrets", (api) => api.list({ path }))
    yield* printList(secrets, options.json, columns, "there are no secrets; store one with: coffer secret set KEY")
  })
).pipe(Command.withDescription("List the keys, without values. Example: coffer secret list --env prod"))

const at = wholeNumber("at", VersionParameter).pipe(
  Options.withDescription("The value as it was in this version"),
  Options.optional
)

const raw = Options.boolean("raw").pipe(
  Options.withDescription("On a terminal, write control characters of the value as they are")
)

const get = Command.make("get", { ...atEnv, key, at, raw }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = { ...(yield* settings.envPath), key: options.key }
    const client = yield* connect(yield* settings.server)
    const urlParams = Option.isSome(options.at) ? { version: options.at.value } : {}
    const secret = yield* client.call("secrets", (api) => api.get({ path, urlParams }))
    const value = Redacted.value(secret.value)
    if (options.json) return yield* printJson({ ...secret, value })
    const text = toTerminal() ? `${value}\n` : value
    yield* options.raw ? write(text) : writeValues(text, "--raw writes them as they are")
  })
).pipe(
  Command.withDescription(
    "Print a value: byte for byte; on a terminal with a final newline, and control characters as escapes. Example: coffer secret get API_KEY > key.txt"
  )
)

// No schema: a value may be any text. `readValue` rejects one that looks like an option.
const value = Args.redacted({ name: "VALUE" }).pipe(
  Args.withDescription(
    "The value (after -- if it begins with a hyphen), or - for standard input, of which a final newline is part; others on this machine can see arguments, and they stay in the shell's history"
  ),
  Args.optional
)

const file = Options.text("file").pipe(
  Options.withDescription(
    "Take the value from this file, or for - from standard input; a final newline is part of the value"
  ),
  Options.optional
)

const allowEmpty = Options.boolean("allow-empty").pipe(
  Options.withDescription("Store the empty text where nothing is typed, or standard input is empty")
)

const ifVersion = wholeNumber("if-version", ExpectedVersionParameter).pipe(
  Options.withDescription("Only when this is the current version; 0 when the key must not be there yet"),
  Options.optional
)

const set = Command.make("set", { ...atEnv, key, value, file, allowEmpty, ifVersion }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = { ...(yield* settings.envPath), key: options.key }
    const client = yield* connect(yield* settings.server)
    const payload = {
      value: yield* readValue(options.key, options.value, options.file, options.allowEmpty),
      ...(Option.isSome(options.ifVersion) ? { expected_version: options.ifVersion.value } : {})
    }
    const written = yield* client.call("secrets", (api) => api.set({ path, payload }))
    if (options.json) return yield* printRecord(written, true)
    yield* printDone(
      `${written.key} stored in ${path.project_name}/${path.env_name} as version ${written.version}`,
      false
    )
  })
).pipe(
  Command.withDescription(
    "Store a value: the argument, else --file, else standard input, else what you type and nobody sees. Example: coffer secret set API_KEY < key.txt"
  )
)

const remove = Command.make("delete", { ...atEnv, key, yes, ifVersion }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = { ...(yield* settings.envPath), key: options.key }
    const client = yield* connect(yield* settings.server)
    yield* confirm(`Delete ${path.key} from ${path.project_name}/${path.env_name}?`, options.yes)
    const urlParams = Option.isSome(options.ifVersion) ? { expected_version: options.ifVersion.value } : {}
    yield* client.call("secrets", (api) => api.delete({ path, urlParams }))
    yield* printDone(`${path.key} deleted from ${path.project_name}/${path.env_name}`, options.json)
  })
).pipe(Command.withDescription("Delete a secret. Example: coffer secret delete API_KEY"))

export const secretCommand = Command.make("secret").pipe(
  Command.withDescription("Secrets of an environment"),
  Command.withSubcommands([
    list,
    get,
    set,
    remove,
    versionsCommand,
    rollbackCommand,
    undeleteCommand,
    destroyCommand,
    importCommand,
    exportCommand
  ])
)
