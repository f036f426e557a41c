import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { optional } from "@coffer/domain/base/Schemas"
import { expectedVersion, secretKinds, SecretListed, SecretRead, SecretWritten } from "@coffer/domain/secrets/Secret"
import { RedactedSecretValue } from "@coffer/domain/secrets/SecretValues"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { reads, removes, replaces } from "../Hints.js"
import { pages } from "../Pages.js"
import { changing, parameters, tool } from "../Tool.js"
import { removed } from "./Removed.js"

export const secretSet = tool({
  name: "secret_set",
  title: "Store a secret",
  description:
    "Creates a secret, or writes a new version of it; earlier versions are kept. Returns the key, the new version and the times, never the value. " +
    "Use it to store a value that you were given or have made; pass expected_version where somebody else may have changed the secret meanwhile.",
  hints: replaces,
  parameters: changing({
    key: SecretKey,
    value: RedactedSecretValue,
    kind: optional(
      Schema.Literal(...secretKinds),
      "reference: ${KEY} and ${environment:KEY} in the value stand for other secrets"
    ),
    expected_version: expectedVersion
  }),
  at: "env",
  output: SecretWritten,
  run: (call, path, { expected_version, key, kind, value }) =>
    call("secrets", (api) =>
      api.set({
        path: { ...path, key },
        payload: {
          value,
          ...(kind !== undefined && { kind }),
          ...(expected_version !== undefined && { expected_version })
        }
      })
    )
})

export const secretGet = tool({
  name: "secret_get",
  title: "Read a secret's value",
  description:
    "Returns the key, the value in plain text and the version; the read is in the audit log. " +
    "Use it only for the value itself: secret_list lists keys, coffer run starts programs. Do not repeat it in messages, files or logs.",
  hints: reads,
  when: { reveal: true },
  parameters: parameters({ key: SecretKey }),
  at: "env",
  output: SecretRead,
  run: (call, path, { key }) => call("secrets", (api) => api.get({ path: { ...path, key }, urlParams: {} }))
})

export const secretCheck = tool({
  name: "secret_get",
  title: "Check that a secret exists",
  description:
    "Returns the key and the current version. The value is not shown: this server was started with SERVICE_MCP_REVEAL=0. " +
    "Use it to make sure that a secret exists; programs get its value by coffer run -- COMMAND.",
  hints: reads,
  when: { reveal: false },
  parameters: parameters({ key: SecretKey }),
  at: "env",
  output: SecretRead.omit("value", "kind"),
  // The server does not send the value at all.
  run: (call, path, { key }) =>
    call("secrets", (api) => api.versions({ path: { ...path, key }, urlParams: { limit: 1 } })).pipe(
      Effect.map(({ data }) => ({ key, version: Math.max(0, ...data.map(({ version }) => version)) }))
    )
})

/** The tool lists no removed secrets, and stays as it was before rotations: `due_at` counts their turns. */
const Listed = SecretListed.omit("removed_at", "removed_by", "turn_at")

const keys = pages({ item: Listed, nameOf: ({ key }) => key, by: "key", size: 60 })

export const secretList = tool({
  name: "secret_list",
  title: "List secrets",
  description:
    "Returns the keys of an environment, each with its version and the time of its last change, without values. " +
    "Use it to see which secrets there are, and before you write or delete one.",
  hints: reads,
  parameters: parameters(keys.parameters),
  at: "env",
  output: keys.output,
  run: (call, path, parameters) =>
    call("secrets", (api) => api.list({ path, urlParams: {} })).pipe(
      Effect.map(({ data }) => keys.page(data, parameters))
    )
})

export const secretDelete = tool({
  name: "secret_delete",
  title: "Delete a secret",
  description:
    "Removes a secret: programs that need it will fail. Returns what was removed, and how a person restores it: tell the user. " +
    "Use it only when the user wants this key gone.",
  hints: removes,
  parameters: changing({ key: SecretKey }),
  at: "env",
  confirm: (path, { key }) => `Delete the secret ${key} of ${path.org_name}/${path.project_name}/${path.env_name}?`,
  output: removed({ org: OrgName, project: ProjectName, env: EnvName, key: SecretKey }),
  run: (call, path, { key }) =>
    call("secrets", (api) => api.delete({ path: { ...path, key }, urlParams: {} })).pipe(
      Effect.as({
        org: path.org_name,
        project: path.project_name,
        env: path.env_name,
        key,
        deleted: true as const,
        restore: `with: coffer secret undelete ${key} --env ${path.org_name}/${path.project_name}/${path.env_name}`
      })
    )
})
