import { randomUUID } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Connection, SingleKind, Told } from "../TargetKind.js"
import { awsCall, pathOf } from "./AwsCalls.js"
import { field, textOf, tokenPages } from "./Fields.js"

// https://docs.aws.amazon.com/secretsmanager/latest/apireference/: a list tells the id of the current version, and no values.
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_limits.html: 64 KiB a value, 512 characters a name.

const maxBytes = 65_536
const perPage = 100

const call = (
  connection: Connection,
  action: string,
  request: Readonly<Record<string, unknown>>,
  expected?: ReadonlyArray<string>
) => awsCall(connection, "secretsmanager", `secretsmanager.${action}`, request, expected)

/** The version that is the current one. */
const stampOf = (secret: unknown): string => {
  const stages = field(secret, "SecretVersionsToStages")
  const found = Object.entries(Predicate.isRecord(stages) ? stages : {}).find(
    ([, names]) => Array.isArray(names) && names.includes("AWSCURRENT")
  )
  return found?.[0] ?? ""
}

/** One secret for each key, below a path. A removed one can be restored for 7 days. */
export const awsSecretsManager: SingleKind = {
  tells: "versions",

  refuses: (name, value) => {
    if (!/^[A-Za-z0-9/_+=.@-]{1,300}$/.test(name))
      return "a name has at most 300 letters, digits and / _ + = . @ - there"
    if (value === "") return "a value is not empty there"
    return Buffer.byteLength(value) > maxBytes ? "a value has at most 64 KiB there" : null
  },

  list: (connection) =>
    Effect.gen(function* () {
      const path = pathOf(connection)
      const found = yield* tokenPages(
        (token) =>
          Effect.map(
            call(connection, "ListSecrets", {
              ...{ MaxResults: perPage, Filters: [{ Key: "name", Values: [path] }] },
              ...(token !== undefined && { NextToken: token })
            }),
            ({ json }) => json
          ),
        "SecretList"
      )
      const keys = new Map<string, Told>()
      for (const secret of found) {
        const name = textOf(secret, "Name") ?? ""
        if (name.startsWith(path)) keys.set(name.slice(path.length), { stamp: stampOf(secret) })
      }
      return { keys, stamp: JSON.stringify([...keys].map(([name, { stamp }]) => [name, stamp])) }
    }),

  put: (connection, { keys }, name, value) =>
    Effect.gen(function* () {
      const id = `${pathOf(connection)}${name}`
      // The version has this id. A repetition of the same call is the same version.
      const version = { SecretString: value, ClientRequestToken: randomUUID() }
      if (keys.has(name))
        return textOf((yield* call(connection, "PutSecretValue", { SecretId: id, ...version })).json, "VersionId")
      const made = yield* call(connection, "CreateSecret", { Name: id, ...version }, ["InvalidRequestException"])
      if (made.error === null) return textOf(made.json, "VersionId")
      // It was removed, and can still be restored.
      yield* call(connection, "RestoreSecret", { SecretId: id })
      return textOf((yield* call(connection, "PutSecretValue", { SecretId: id, ...version })).json, "VersionId")
    }),

  remove: (connection, _listed, name) =>
    Effect.asVoid(
      call(connection, "DeleteSecret", { SecretId: `${pathOf(connection)}${name}`, RecoveryWindowInDays: 7 }, [
        "ResourceNotFoundException"
      ])
    )
}
