import { generateValue } from "@coffer/client/internal/GeneratedValue"
import { withMessage } from "@coffer/domain/base/Message"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import {
  Count,
  integerParameter,
  LimitParameter,
  maxPageSize,
  optional,
  VersionParameter
} from "@coffer/domain/base/Schemas"
import { SecretChange } from "@coffer/domain/secrets/Bundle"
import { SecretDifference } from "@coffer/domain/secrets/Diff"
import { expectedVersion, SecretVersion, SecretWritten } from "@coffer/domain/secrets/Secret"
import { SecretKeys } from "@coffer/domain/secrets/SecretValues"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { reads, replaces } from "../Hints.js"
import { pages } from "../Pages.js"
import { changing, parameters, tool } from "../Tool.js"

const when = { extra: true } as const

const differences = pages({ item: SecretDifference, nameOf: ({ key }) => key, by: "key", size: maxPageSize })

export const secretCompare = tool({
  name: "secret_compare",
  title: "Compare two environments",
  description:
    "Returns the keys in which two environments of a project differ, without values: only_here is in env, only_there in the other, " +
    "different has another value. Counts those that are the same. Use it before you copy secrets, or to find what an environment lacks.",
  hints: reads,
  when,
  parameters: parameters({
    with: EnvName.annotations({ description: "the other environment" }),
    ...differences.parameters
  }),
  at: "env",
  about: ({ with: other }) => ({ env: other }),
  output: Schema.Struct({ ...differences.output.fields, same: Count }),
  run: (call, path, { with: other, ...parameters }) =>
    call("environments", (api) => api.diff({ path, urlParams: { with: other } })).pipe(
      Effect.map(({ data }) => {
        const differing = data.filter(({ status }) => status !== "same")
        return { ...differences.page(differing, parameters), same: data.length - differing.length }
      })
    )
})

const versionsOfPage = 20

export const secretVersions = tool({
  name: "secret_versions",
  title: "List a secret's versions",
  description:
    "Returns the versions of a secret, newest first: number, time, writer, and whether the value was destroyed; never a value. " +
    "Use it to find the version for secret_rollback.",
  hints: reads,
  when,
  parameters: parameters({
    key: SecretKey,
    limit: optional(
      Schema.typeSchema(LimitParameter).annotations({ description: `at most this many; default ${versionsOfPage}` })
    ),
    before: optional(
      Schema.typeSchema(VersionParameter).annotations({
        description: "only versions before this one: next_before of the previous page"
      })
    )
  }),
  at: "env",
  output: Schema.Struct({ data: Schema.Array(SecretVersion), next_before: Schema.NullOr(Count) }),
  run: (call, path, { before, key, limit = versionsOfPage }) =>
    call("secrets", (api) =>
      api.versions({ path: { ...path, key }, urlParams: { limit, ...(before !== undefined && { before }) } })
    ).pipe(
      Effect.map(({ data }) => {
        const last = data.at(-1)?.version ?? 1
        return { data, next_before: data.length === limit && last > 1 ? last : null }
      })
    )
})

export const secretRollback = tool({
  name: "secret_rollback",
  title: "Restore an earlier version",
  description:
    "Writes the value of an earlier version as a new version, without showing it. Returns the key, the new version and the times. " +
    "Use it when the user wants an earlier value back; secret_versions lists them.",
  hints: replaces,
  when,
  parameters: changing({
    key: SecretKey,
    version: Count.annotations({ description: "the version to restore" }),
    expected_version: expectedVersion
  }),
  at: "env",
  output: SecretWritten,
  run: (call, path, { expected_version, key, version }) =>
    call("secrets", (api) =>
      api.rollback({
        path: { ...path, key },
        payload: { version, ...(expected_version !== undefined && { expected_version }) }
      })
    )
})

const changesShown = 60

export const secretCopy = tool({
  name: "secret_copy",
  title: "Copy secrets",
  description:
    "Copies secrets from another environment of the project into env, all or nothing, without showing values; keys that only env has stay. " +
    `Returns how many were created, updated and unchanged, and the first ${changesShown} changes. ` +
    "Use it when the user wants these values in env too; compare with secret_compare, or try with dry_run first.",
  hints: replaces,
  when,
  parameters: changing({
    from: EnvName.annotations({ description: "the environment to copy from" }),
    keys: optional(SecretKeys.annotations({ description: "only these keys; default: all" })),
    dry_run: optional(Schema.Boolean.annotations({ description: "true: return the changes without making them" }))
  }),
  at: "env",
  about: ({ from }) => ({ env: from }),
  output: Schema.Struct({
    created: Count,
    updated: Count,
    unchanged: Count,
    data: Schema.Array(SecretChange),
    left_out: Count
  }),
  run: (call, path, { dry_run, from, keys }) =>
    call("environments", (api) =>
      api.copy({
        path,
        headers: {},
        payload: { from, ...(keys !== undefined && { keys }), ...(dry_run !== undefined && { dry_run }) }
      })
    ).pipe(
      Effect.map(({ data }) => {
        const count = (change: string) => data.filter((one) => one.change === change).length
        const changed = data.filter(({ change }) => change !== "unchanged")
        return {
          created: count("created"),
          updated: count("updated"),
          unchanged: count("unchanged"),
          data: changed.slice(0, changesShown),
          left_out: Math.max(0, changed.length - changesShown)
        }
      })
    )
})

/** The generator's sets by the names of this tool. */
const charsets = { alphanumeric: "alnum", hex: "hex", digits: "digits", symbols: "symbols" } as const
const charsetNames = Record.keys(charsets)
const charsetMessage = withMessage(`must be one of ${charsetNames.join(", ")}`)

export const secretGenerate = tool({
  name: "secret_generate",
  title: "Generate a secret",
  description:
    "Makes a random value and stores it as a new version, without showing it. Returns the key, the new version and the times. " +
    "Use it for passwords and tokens that only programs need; pass expected_version 0 to keep an existing secret.",
  hints: replaces,
  when,
  parameters: changing({
    key: SecretKey,
    length: optional(
      Schema.typeSchema(integerParameter(8, 1_024)).annotations({ description: "number of characters; default 32" })
    ),
    charset: optional(
      Schema.Literal(...charsetNames).annotations({
        ...charsetMessage,
        description: "the characters; default alphanumeric"
      })
    ),
    expected_version: expectedVersion
  }),
  at: "env",
  output: SecretWritten,
  run: (call, path, { charset = "alphanumeric", expected_version, key, length = 32 }) =>
    Effect.flatMap(generateValue(length, charsets[charset]), (value) =>
      call("secrets", (api) =>
        api.set({
          path: { ...path, key },
          payload: { value, ...(expected_version !== undefined && { expected_version }) }
        })
      )
    )
})
