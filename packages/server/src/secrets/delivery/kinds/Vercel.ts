import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { PlatformFailed } from "../PlatformFailed.js"
import type { Connection, SingleKind, Told } from "../TargetKind.js"
import { field, listOf, textOf } from "./Fields.js"

// https://vercel.com/docs/rest-api/reference/endpoints/projects: a list tells when each variable was changed, and no sensitive value.
// https://vercel.com/docs/environment-variables: names, and 64 KB for all variables of a deployment.

const maxBytes = 64 * 1024

const addressOf = (
  { place: { project = "", team, url = "https://api.vercel.com" } }: Connection,
  below = "",
  version = 9
) =>
  `${url}/v${version}/projects/${encodeURIComponent(project)}/env${below}${team === undefined ? "" : `?teamId=${team}`}`

const headersOf = ({ credential }: Connection) => ({ authorization: `Bearer ${Redacted.value(credential)}` })

const environmentOf = ({ place: { environment = "" } }: Connection): string => environment

const shared = "it is set for several environments there"
const no = (reason: string) => new PlatformFailed({ reason, isUndone: true })

/** The variables of one environment. Those of several are never written, because others read them too. */
export const vercel: SingleKind = {
  tells: "times",

  refuses: (name, value) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return "a name has letters, digits and _ there, and no digit first"
    return Buffer.byteLength(value) > maxBytes ? "the values have at most 64 KB there" : null
  },

  list: (connection) =>
    Effect.gen(function* () {
      const { json } = yield* connection.ask({ url: addressOf(connection, "", 10), headers: headersOf(connection) })
      const keys = new Map<string, Told>()
      for (const row of listOf(json, "envs")) {
        const targets = [field(row, "target")].flat()
        if (!targets.includes(environmentOf(connection)) || Predicate.isString(field(row, "gitBranch"))) continue
        const [id, key] = [textOf(row, "id"), textOf(row, "key")]
        if (id === undefined || key === undefined) continue
        keys.set(key, { stamp: String(field(row, "updatedAt")), ...(targets.length === 1 && { ref: id }) })
      }
      return { keys, stamp: JSON.stringify([...keys].map(([name, { stamp }]) => [name, stamp])) }
    }),

  put: (connection, { keys }, name, value) =>
    Effect.gen(function* () {
      const environment = environmentOf(connection)
      // A development machine pulls its variables, so that none of them can be sensitive.
      const type = environment === "development" ? "encrypted" : "sensitive"
      const told = keys.get(name)
      if (told !== undefined && told.ref === undefined) return yield* no(`${name}: ${shared}`)
      const { json } = yield* connection.ask({
        url: told?.ref === undefined ? addressOf(connection, "", 10) : addressOf(connection, `/${told.ref}`),
        method: told === undefined ? "POST" : "PATCH",
        headers: headersOf(connection),
        json: told === undefined ? { key: name, value, type, target: [environment] } : { value }
      })
      if (listOf(json, "failed").length > 0) return yield* no(`it refuses ${name}`)
      const changed = field(json, "created", "updatedAt") ?? field(json, "updatedAt")
      return Predicate.isNumber(changed) ? String(changed) : undefined
    }),

  remove: (connection, { keys }, name) => {
    const ref = keys.get(name)?.ref
    return ref === undefined
      ? no(`${name}: ${shared}`)
      : Effect.asVoid(
          connection.ask({
            url: addressOf(connection, `/${ref}`),
            method: "DELETE",
            headers: headersOf(connection),
            also: [404]
          })
        )
  }
}
