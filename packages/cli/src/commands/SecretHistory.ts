import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type { CofferClient } from "@coffer/domain/client/CofferClient"
import type { SecretPath } from "@coffer/domain/api/Paths"
import { VersionNumbers } from "@coffer/domain/api/SecretsApi"
import { SecretKey } from "@coffer/domain/Names"
import { ExpectedVersionParameter, VersionParameter } from "@coffer/domain/Schemas"
import type { SecretVersion, SecretWritten } from "@coffer/domain/Secret"
import { Effect, Option } from "effect"
import { note, printDone, printList, printRecord } from "../Output.js"
import { confirm } from "../Prompts.js"
import { commaList, versionNumber, wholeNumber } from "./Checked.js"
import { argument, atEnv, connect, settingsOf, yes } from "./Shared.js"

const key = argument("KEY", SecretKey, "The secret's key")

const columns = {
  version: (version: SecretVersion) => version.version,
  created: (version: SecretVersion) => version.created_at,
  by: (version: SecretVersion) => version.created_by,
  state: (version: SecretVersion) => (version.current ? "current" : version.destroyed ? "destroyed" : "-")
}

const pageSize = 100

/** Reads every version, newest first. */
const allVersions = Effect.fnUntraced(function* (client: CofferClient, path: SecretPath) {
  const data: Array<SecretVersion> = []
  for (;;) {
    const before = data.at(-1)?.version
    const urlParams = { limit: pageSize, ...(before === undefined ? {} : { before }) }
    const page = yield* client.call("secrets", (api) => api.versions({ path, urlParams }))
    data.push(...page.data)
    if (page.data.length < pageSize || page.data.at(-1)?.version === 1) return { data }
  }
})

export const versionsCommand = Command.make("versions", { ...atEnv, key }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = { ...(yield* settings.envPath), key: options.key }
    const client = yield* connect(yield* settings.server)
    yield* printList(yield* allVersions(client, path), options.json, columns, "there are no versions")
  })
).pipe(
  Command.withDescription(
    "List a secret's versions, newest first, without values. Example: coffer secret versions API_KEY"
  )
)

const printWritten = (written: SecretWritten, json: boolean, sentence: string) =>
  json ? printRecord(written, true) : printDone(sentence, false)

const to = wholeNumber("to", VersionParameter).pipe(Options.withDescription("The version whose value is written again"))

const ifVersion = wholeNumber("if-version", ExpectedVersionParameter).pipe(
  Options.withDescription("Only when this is the current version"),
  Options.optional
)

export const rollbackCommand = Command.make("rollback", { ...atEnv, key, to, ifVersion }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = { ...(yield* settings.envPath), key: options.key }
    const client = yield* connect(yield* settings.server)
    const payload = {
      version: options.to,
      ...(Option.isSome(options.ifVersion) ? { expected_version: options.ifVersion.value } : {})
    }
    const written = yield* client.call("secrets", (api) => api.rollback({ path, payload }))
    yield* printWritten(
      written,
      options.json,
      `${written.key} is as it was in version ${options.to}, as version ${written.version}`
    )
  })
).pipe(
  Command.withDescription(
    "Write an earlier value again, without showing it. Example: coffer secret rollback API_KEY --to 3"
  )
)

export const undeleteCommand = Command.make("undelete", { ...atEnv, key }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = { ...(yield* settings.envPath), key: options.key }
    const client = yield* connect(yield* settings.server)
    const written = yield* client.call("secrets", (api) => api.undelete({ path }))
    yield* printWritten(
      written,
      options.json,
      `${written.key} is back in ${path.project_name}/${path.env_name}, as version ${written.version}`
    )
  })
).pipe(
  Command.withDescription("Bring a deleted secret back, with its versions. Example: coffer secret undelete API_KEY")
)

const versions = commaList("versions", VersionNumbers, versionNumber, "numbers of versions").pipe(
  Options.withDescription("The versions to erase, separated by commas")
)

const pending =
  "the server still has to erase the data keys from its files, because something such as a backup is reading the database: it does so by itself, within a minute after that has ended"
const backups = "backups that were made before still hold what was destroyed, until they are removed"

export const destroyCommand = Command.make("destroy", { ...atEnv, key, versions, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = { ...(yield* settings.envPath), key: options.key }
    const client = yield* connect(yield* settings.server)
    const wanted = options.versions
    const named = `${wanted.length === 1 ? "version" : "versions"} ${wanted.join(", ")} of ${path.key}`
    yield* confirm(`Erase ${named} for good? Nobody can bring that back.`, options.yes)
    const answer = yield* client.call("secrets", (api) => api.destroy({ path, payload: { versions: wanted } }))
    if (options.json) return yield* printList(answer, true, columns, "")
    yield* printDone(`${named} destroyed`, false)
    if (answer.erased !== "now") yield* note(pending)
    yield* note(backups)
  })
).pipe(
  Command.withDescription(
    "Erase the values of earlier versions for good; that they existed stays on record. Example: coffer secret destroy API_KEY --versions 1,2"
  )
)
