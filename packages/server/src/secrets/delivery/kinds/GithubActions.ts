import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { PlatformFailed } from "../PlatformFailed.js"
import type { Connection, SingleKind, Told } from "../TargetKind.js"
import { field, listOf, pages, textOf } from "./Fields.js"
import { sealedBox } from "./SealedBox.js"

// https://docs.github.com/en/rest/actions/secrets: names and times are told, values never.
// https://docs.github.com/en/actions/reference/security/secrets: names, and at most 48 KB a value.

const maxBytes = 48 * 1024
const perPage = 100

const baseOf = ({
  place: { environment, organization, repository = "", url = "https://api.github.com" }
}: Connection) => {
  if (organization !== undefined) return `${url}/orgs/${organization}/actions/secrets`
  return environment === undefined
    ? `${url}/repos/${repository}/actions/secrets`
    : `${url}/repos/${repository}/environments/${encodeURIComponent(environment)}/secrets`
}

const headersOf = ({ credential }: Connection) => ({
  authorization: `Bearer ${Redacted.value(credential)}`,
  accept: "application/vnd.github+json",
  "x-github-api-version": "2022-11-28"
})

const toldOf = (secret: unknown): ReadonlyArray<readonly [string, Told]> => {
  const [name, stamp, ref] = [field(secret, "name"), field(secret, "updated_at"), textOf(secret, "visibility")]
  return Predicate.isString(name) && Predicate.isString(stamp)
    ? [[name, { stamp, ...(ref !== undefined && { ref }) }]]
    : []
}

const no = (reason: string) => new PlatformFailed({ reason, isUndone: true })

/** Secrets of a repository, an environment or an organization, in sealed boxes. */
export const githubActions: SingleKind = {
  tells: "times",

  refuses: (name, value) => {
    if (!/^[A-Z_][A-Z0-9_]*$/.test(name)) return "a name has capitals, digits and _ there, and no digit first"
    if (name.startsWith("GITHUB_")) return "no name begins with GITHUB_ there"
    return Buffer.byteLength(value) > maxBytes ? "a value has at most 48 KB there" : null
  },

  list: (connection) =>
    Effect.gen(function* () {
      const headers = headersOf(connection)
      const found = yield* pages(
        (page) => connection.ask({ url: `${baseOf(connection)}?per_page=${perPage}&page=${page}`, headers }),
        ({ json }) => listOf(json, "secrets"),
        perPage
      )
      const { json } = yield* connection.ask({ url: `${baseOf(connection)}/public-key`, headers })
      const [id, key] = [textOf(json, "key_id"), textOf(json, "key")]
      if (id === undefined || key === undefined) return yield* no("its response is not that of GitHub")
      const keys = new Map(found.flatMap(toldOf))
      return { keys, stamp: JSON.stringify([...keys].map(([name, { stamp }]) => [name, stamp])), extra: { id, key } }
    }),

  put: (connection, { extra = {}, keys }, name, value) =>
    Effect.gen(function* () {
      const { organization, visibility = "private" } = connection.place
      if (keys.get(name)?.ref === "selected") return yield* no(`${name} is for selected repositories there`)
      const encrypted_value = yield* Effect.mapError(sealedBox(Buffer.from(extra["key"] ?? "", "base64"), value), () =>
        no("its public key is none")
      )
      yield* connection.ask({
        url: `${baseOf(connection)}/${name}`,
        method: "PUT",
        headers: headersOf(connection),
        json: { encrypted_value, key_id: extra["id"], ...(organization !== undefined && { visibility }) }
      })
      return undefined
    }),

  remove: (connection, _listed, name) =>
    Effect.asVoid(
      connection.ask({
        url: `${baseOf(connection)}/${name}`,
        method: "DELETE",
        headers: headersOf(connection),
        also: [404]
      })
    )
}
