import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Connection, SingleKind, Told } from "../TargetKind.js"
import { field, listOf, textOf } from "./Fields.js"

// https://developers.cloudflare.com/api/resources/workers/subresources/scripts/subresources/secrets/: names alone are told.
// https://developers.cloudflare.com/api/resources/pages/subresources/projects/: secrets are variables of a deployment configuration.
// https://developers.cloudflare.com/workers/platform/limits/: 5 KB a value.

const maxBytes = 5 * 1024

const baseOf = ({ place: { account = "", url = "https://api.cloudflare.com/client/v4" } }: Connection) =>
  `${url}/accounts/${account}`

const headersOf = ({ credential }: Connection) => ({ authorization: `Bearer ${Redacted.value(credential)}` })

const secretsOf = (connection: Connection): string =>
  `${baseOf(connection)}/workers/scripts/${connection.place["worker"] ?? ""}/secrets`

const isPages = ({ place }: Connection): boolean => place["pages"] !== undefined

const environmentOf = ({ place: { environment = "production" } }: Connection): string => environment

const project = (connection: Connection) => ({
  url: `${baseOf(connection)}/pages/projects/${connection.place["pages"] ?? ""}`,
  headers: headersOf(connection)
})

/** Changes one variable of Pages: the others stay, because a PATCH merges. */
const patch = (connection: Connection, name: string, variable: unknown) =>
  connection.ask({
    ...project(connection),
    method: "PATCH",
    json: { deployment_configs: { [environmentOf(connection)]: { env_vars: { [name]: variable } } } }
  })

const namesOf = (connection: Connection, json: unknown): ReadonlyArray<string> => {
  if (!isPages(connection)) return listOf(json, "result").flatMap((row) => textOf(row, "name") ?? [])
  const found = field(json, "result", "deployment_configs", environmentOf(connection), "env_vars")
  return Predicate.isRecord(found) ? Object.keys(found) : []
}

/** Secrets of a Worker, or of one environment of a project of Pages. */
export const cloudflare: SingleKind = {
  tells: "names",
  // A PATCH of Pages reads and writes all variables.
  isOrdered: true,

  refuses: (name, value) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return "a name has letters, digits and _ there, and no digit first"
    return Buffer.byteLength(value) > maxBytes ? "a value has at most 5 KB there" : null
  },

  list: (connection) =>
    Effect.map(
      connection.ask(
        isPages(connection) ? project(connection) : { url: secretsOf(connection), headers: headersOf(connection) }
      ),
      ({ json }) => {
        const names = namesOf(connection, json)
        return { keys: new Map(names.map((name): readonly [string, Told] => [name, {}])), stamp: JSON.stringify(names) }
      }
    ),

  put: (connection, _listed, name, value) =>
    Effect.as(
      isPages(connection)
        ? patch(connection, name, { type: "secret_text", value })
        : connection.ask({
            url: secretsOf(connection),
            method: "PUT",
            headers: headersOf(connection),
            json: { name, text: value, type: "secret_text" }
          }),
      undefined
    ),

  remove: (connection, _listed, name) =>
    Effect.asVoid(
      isPages(connection)
        ? patch(connection, name, null)
        : connection.ask({
            url: `${secretsOf(connection)}/${name}`,
            method: "DELETE",
            headers: headersOf(connection),
            also: [404]
          })
    )
}
