import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { PlatformFailed } from "../PlatformFailed.js"
import type { Connection, Told, WholeKind } from "../TargetKind.js"
import { field, listOf, textOf } from "./Fields.js"

// https://kubernetes.io/docs/reference/using-api/server-side-apply/: what a manager leaves out of its next apply is removed, and a
// field of another manager is a conflict unless the apply is forced. A resourceVersion in it makes it a compare-and-set.
// https://kubernetes.io/docs/concepts/configuration/secret/: names, and at most 1 MiB for a Secret.

const manager = "coffer"
const maxBytes = 1024 * 1024

const secretOf = ({ place: { name = "", namespace = "", url = "" } }: Connection): string =>
  `${url}/api/v1/namespaces/${namespace}/secrets/${name}`

const callOf = ({ credential, place: { ca } }: Connection) => ({
  headers: { authorization: `Bearer ${Redacted.value(credential)}` },
  ...(ca !== undefined && { ca })
})

/** The names that an apply of this manager owns. */
const managed = (json: unknown): ReadonlySet<string> =>
  new Set(
    listOf(json, "metadata", "managedFields")
      .filter((one) => field(one, "manager") === manager && field(one, "operation") === "Apply")
      .flatMap((one) => {
        const fields = field(one, "fieldsV1", "f:data")
        return Predicate.isRecord(fields) ? Object.keys(fields).map((name) => name.replace(/^f:/, "")) : []
      })
  )

const encoded = (value: string): string => Buffer.from(value).toString("base64")

/** A value that is no text has none here. */
const decoded = (text: string): string | undefined => {
  const bytes = Buffer.from(text, "base64")
  const value = bytes.toString()
  return Buffer.from(value).equals(bytes) ? value : undefined
}

/** One Secret, whose data are the keys. Those of other managers stay. */
export const kubernetes: WholeKind = {
  tells: "values",

  refuses: (name, value) => {
    if (!/^[A-Za-z0-9._-]{1,253}$/.test(name)) return "a name has letters, digits and - _ . there"
    return Buffer.byteLength(value) > maxBytes ? "a Secret has at most 1 MiB there" : null
  },

  list: (connection) =>
    Effect.gen(function* () {
      const { json, status } = yield* connection.ask({ url: secretOf(connection), ...callOf(connection), also: [404] })
      if (status === 404) return { keys: new Map<string, Told>(), stamp: "" }
      const stamp = textOf(json, "metadata", "resourceVersion")
      if (stamp === undefined) {
        return yield* new PlatformFailed({ reason: "its response is not that of Kubernetes", isUndone: true })
      }
      const data = field(json, "data")
      const own = managed(json)
      const keys = Object.entries(Predicate.isRecord(data) ? data : {}).map(([name, text]) => {
        const value = Predicate.isString(text) ? decoded(text) : undefined
        const told: Told = {
          ...(value !== undefined && { value: Redacted.make(value) }),
          ...(own.has(name) && Predicate.isString(text) && { ref: text })
        }
        return [name, told] as const
      })
      return { keys: new Map(keys), stamp, extra: { type: textOf(json, "type") ?? "Opaque" } }
    }),

  write: (connection, { extra = {}, keys, stamp }, { put, remove }) => {
    const { name, namespace } = connection.place
    // The keys that this manager owns already, as they are there.
    const kept = [...keys].flatMap(([key, { ref }]) => (ref === undefined ? [] : [[key, ref] as const]))
    const data = new Map(kept)
    for (const key of remove) data.delete(key)
    for (const [key, value] of put) data.set(key, encoded(Redacted.value(value)))
    if ([...data].reduce((sum, [key, text]) => sum + key.length + text.length, 0) * 0.75 > maxBytes) {
      return new PlatformFailed({ reason: "a Secret has at most 1 MiB there", isUndone: true })
    }
    // The plan saw what it overwrites, and the version that it saw must still be there.
    const isForced = [...put.keys()].some((key) => keys.has(key))
    return connection
      .ask({
        url: `${secretOf(connection)}?fieldManager=${manager}&fieldValidation=Strict&force=${isForced}`,
        method: "PATCH",
        ...callOf(connection),
        headers: { ...callOf(connection).headers, "content-type": "application/apply-patch+yaml" },
        also: [409],
        json: {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name, namespace, ...(stamp !== "" && { resourceVersion: stamp }) },
          type: extra["type"] ?? "Opaque",
          data: Object.fromEntries(data)
        }
      })
      .pipe(
        Effect.flatMap(({ status }) =>
          status === 409
            ? new PlatformFailed({ reason: "it has changed meanwhile, or others manage a key there", isUndone: true })
            : Effect.void
        )
      )
  }
}
