import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { PlatformFailed } from "../PlatformFailed.js"
import type { Connection, SingleKind, Told } from "../TargetKind.js"
import { awsCall, pathOf } from "./AwsCalls.js"
import { field, textOf, tokenPages } from "./Fields.js"

// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html: names, 4 KB a value of a standard parameter,
// and no `{{` in a value. API_GetParametersByPath tells values, at most 10 at a time.

const maxBytes = 4096
const perPage = 10

const call = (
  connection: Connection,
  action: string,
  request: Readonly<Record<string, unknown>>,
  expected?: ReadonlyArray<string>
) => awsCall(connection, "ssm", `AmazonSSM.${action}`, request, expected)

const rootOf = (connection: Connection): string => `/${pathOf(connection)}`

/** One SecureString for each key, below a path. */
export const awsParameterStore: SingleKind = {
  tells: "values",

  refuses: (name, value) => {
    if (!/^[A-Za-z0-9_.-]{1,200}$/.test(name) || /^(?:aws|ssm)/i.test(name)) {
      return "a name has at most 200 letters, digits and _ . - there, and does not begin with aws or ssm"
    }
    if (value === "") return "a value is not empty there"
    if (value.includes("{{")) return "a value has no {{ there"
    return Buffer.byteLength(value) > maxBytes ? "a value has at most 4 KB there" : null
  },

  list: (connection) =>
    Effect.gen(function* () {
      const root = rootOf(connection)
      const found = yield* tokenPages(
        (token) =>
          Effect.map(
            call(connection, "GetParametersByPath", {
              ...{ Path: root.slice(0, -1), WithDecryption: true, MaxResults: perPage },
              ...(token !== undefined && { NextToken: token })
            }),
            ({ json }) => json
          ),
        "Parameters"
      )
      const keys = new Map<string, Told>()
      const versions: Array<unknown> = []
      for (const parameter of found) {
        const [name = "", value = ""] = [textOf(parameter, "Name"), textOf(parameter, "Value")]
        if (!name.startsWith(root)) continue
        keys.set(name.slice(root.length), { value: Redacted.make(value) })
        versions.push([name, field(parameter, "Version")])
      }
      return { keys, stamp: JSON.stringify(versions) }
    }),

  put: (connection, { keys }, name, value) =>
    Effect.gen(function* () {
      const { error, json } = yield* call(
        connection,
        "PutParameter",
        { Name: `${rootOf(connection)}${name}`, Value: value, Type: "SecureString", Overwrite: keys.has(name) },
        ["ParameterAlreadyExists"]
      )
      if (error !== null)
        return yield* new PlatformFailed({ reason: `somebody has written ${name} meanwhile`, isUndone: true })
      const version = field(json, "Version")
      return Predicate.isNumber(version) ? String(version) : undefined
    }),

  remove: (connection, _listed, name) =>
    Effect.asVoid(call(connection, "DeleteParameter", { Name: `${rootOf(connection)}${name}` }, ["ParameterNotFound"]))
}
