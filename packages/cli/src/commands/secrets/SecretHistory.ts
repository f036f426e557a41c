import type { SecretPath } from "@coffer/domain/api/Paths"
import { VersionNumbers } from "@coffer/domain/secrets/Secret"
import { ExpectedVersionParameter, maxPageSize, VersionParameter } from "@coffer/domain/base/Schemas"
import type { SecretVersion } from "@coffer/domain/secrets/Secret"
import * as Effect from "effect/Effect"
import { momentCell } from "../../base/Moments.js"
import { noteWarnings } from "../../changes/Warnings.js"
import { defined } from "@coffer/domain/base/Defined"
import { asking, atEnv, type Call, wide, yes } from "../../grammar/Command.js"
import { commas, option, requiredOption, versionNumber } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { note } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { absentKey, key } from "./KeyArguments.js"

const columns = {
  version: (version: SecretVersion) => version.version,
  created: (version: SecretVersion) => momentCell(version.created_at),
  by: (version: SecretVersion) => version.created_by,
  state: (version: SecretVersion) => (version.current ? "current" : version.destroyed ? "destroyed" : "-")
}

const comparedColumns = {
  ...columns,
  length: ({ bytes_up_to }: SecretVersion) =>
    bytes_up_to === undefined ? "-" : bytes_up_to === 0 ? "empty" : `up to ${bytes_up_to} bytes`,
  value: ({ same, version }: SecretVersion) =>
    same === null || same === undefined ? "-" : `${same ? "same as" : "differs from"} ${version - 1}`
}

/** Reads every version, newest first. */
const allVersions = Effect.fnUntraced(function* (call: Call, path: SecretPath, compare: boolean) {
  const data: Array<SecretVersion> = []
  for (;;) {
    const before = data.at(-1)?.version
    const urlParams = { limit: maxPageSize, ...defined({ before }), ...(compare && { compare: true as const }) }
    const page = yield* call("secrets", (api) => api.versions({ path, urlParams }))
    data.push(...page.data)
    if (page.data.length < maxPageSize || page.data.at(-1)?.version === 1) return { data }
  }
})

export const versions = atEnv("versions", {
  description: "List a secret's versions, newest first, without values",
  examples: [
    "coffer secret versions API_KEY",
    "coffer secret versions API_KEY --compare",
    "coffer secret versions API_KEY --json"
  ],
  options: {
    key,
    compare: flag("compare", "Show whether each value equals the one before, and its greatest possible length"),
    wide
  },
  run: ({ call, options: { compare, key }, path }) =>
    Effect.map(allVersions(call, { ...path, key }, compare), (response) =>
      listView(response, compare ? comparedColumns : columns, "there are no versions")
    )
})

export const rollback = atEnv("rollback", {
  description: "Write an earlier value again, without showing it",
  examples: ["coffer secret rollback API_KEY --to 3", "coffer secret rollback API_KEY --to 1 --if-version 3"],
  options: {
    key,
    to: requiredOption("to", VersionParameter, "The version whose value is written again"),
    ifVersion: option("if-version", ExpectedVersionParameter, "Only when this is the current version"),
    ...asking
  },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const payload = { version: options.to, ...defined({ expected_version: options.ifVersion }) }
      const written = yield* call("secrets", (api) => api.rollback({ path: { ...path, key: options.key }, payload }))
      yield* noteWarnings(written, `${path.project_name}/${path.env_name}`)
      return doneView(`${written.key} is as it was in version ${options.to}, as version ${written.version}`, written)
    })
})

export const undelete = atEnv("undelete", {
  description: "Bring a deleted secret back, with its versions",
  examples: ["coffer secret undelete API_KEY"],
  options: { key: absentKey, ...asking },
  run: ({ call, options, path }) =>
    Effect.map(
      call("secrets", (api) => api.undelete({ path: { ...path, key: options.key } })),
      (written) => {
        const place = `${path.project_name}/${path.env_name}`
        return doneView(`${written.key} is back in ${place}, as version ${written.version}`, written)
      }
    )
})

const pending =
  "the server still has to erase the data keys from its files, because something such as a backup is reading the database: it does so by itself, within a minute after that has ended"
const backups = "backups that were made before still hold what was destroyed, until they are removed"

export const destroy = atEnv("destroy", {
  description: "Erase the values of earlier versions for good; that they existed stays on record",
  examples: ["coffer secret destroy API_KEY --versions 1,2"],
  options: {
    key,
    versions: requiredOption(
      "versions",
      commas(VersionNumbers, "numbers of versions", versionNumber),
      "The versions to erase, separated by commas"
    ),
    yes,
    ...asking
  },
  run: ({ call, options: { key, versions, yes }, path }) =>
    Effect.gen(function* () {
      const named = `${versions.length === 1 ? "version" : "versions"} ${versions.join(", ")} of ${key}`
      yield* confirm(`Erase ${named} for good? Nobody can bring that back.`, yes)
      const response = yield* call("secrets", (api) => api.destroy({ path: { ...path, key }, payload: { versions } }))
      const { json, text } = doneView(`${named} destroyed`, response)
      const notes = response.erased === "now" ? [backups] : [pending, backups]
      return { json, text: Effect.zipRight(text, Effect.forEach(notes, note, { discard: true })) }
    })
})
