import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { field } from "./Fields.js"
import { PlatformFailed } from "../PlatformFailed.js"
import type { Connection, Told, WholeKind } from "../TargetKind.js"

// https://openbao.org/api-docs/secret/kv/kv-v2/: one secret, whose fields are the keys.

/** Of the default `max_request_size` of 32 MiB, which a value of Coffer cannot reach. */
const maxName = 200

const dataOf = ({ place: { mount = "", path = "", url = "" } }: Connection): string => `${url}/v1/${mount}/data/${path}`

const headersOf = ({ credential, place: { namespace } }: Connection) => ({
  "x-vault-token": Redacted.value(credential),
  "x-vault-request": "true",
  ...(namespace !== undefined && { "x-vault-namespace": namespace })
})

/** A field that is no text is another's: its digest is its form. */
const toldOf = (value: unknown): Told => (Predicate.isString(value) ? { value: Redacted.make(value) } : {})

const isRemoved = ({ stamp }: { readonly stamp: string }) => stamp.startsWith("gone ")
const versionOf = ({ stamp }: { readonly stamp: string }) => Number(stamp.replace("gone ", ""))

/** KV 2: a patch names only our fields, and the version that was listed, so that nothing of others is overwritten. */
export const vault: WholeKind = {
  tells: "values",

  refuses: (name) => (name.length > maxName ? `a name has at most ${maxName} characters there` : null),

  list: (connection) =>
    Effect.gen(function* () {
      const { json, status } = yield* connection.ask({
        url: dataOf(connection),
        headers: headersOf(connection),
        also: [404]
      })
      const version = field(json, "data", "metadata", "version")
      if (status === 404) {
        // A deleted version has metadata; without it, nothing was ever written, or the mount does not exist.
        return { keys: new Map<string, Told>(), stamp: `gone ${Predicate.isNumber(version) ? version : 0}` }
      }
      const data = field(json, "data", "data")
      if (!Predicate.isNumber(version) || !Predicate.isRecord(data)) {
        return yield* new PlatformFailed({ reason: "its response is not that of KV version 2", isUndone: true })
      }
      return {
        keys: new Map(Object.entries(data).map(([name, value]) => [name, toldOf(value)] as const)),
        stamp: String(version)
      }
    }),

  write: (connection, listed, { put, remove }) => {
    const values = [...put].map(([name, value]) => [name, Redacted.value(value)] as const)
    const data = Object.fromEntries([...values, ...remove.map((name) => [name, null] as const)])
    const isNew = isRemoved(listed)
    return connection
      .ask({
        url: dataOf(connection),
        method: isNew ? "POST" : "PATCH",
        headers: {
          ...headersOf(connection),
          ...(!isNew && { "content-type": "application/merge-patch+json" })
        },
        also: [400],
        json: { options: { cas: versionOf(listed) }, data: isNew ? Object.fromEntries(values) : data }
      })
      .pipe(
        Effect.flatMap(({ status }) =>
          status === 400
            ? new PlatformFailed({ reason: "it has changed meanwhile, or refuses the write", isUndone: true })
            : Effect.void
        )
      )
  }
}
