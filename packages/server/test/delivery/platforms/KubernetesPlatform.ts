import { token } from "../KvServer.js"
import { type Answer, jsonOf, type Platform } from "./StandIn.js"

/**
 * One Secret, by https://kubernetes.io/docs/reference/using-api/server-side-apply/: an apply owns what it names, removes what it named
 * before and nobody else owns, and is refused by 409 for another manager's field with another value, unless it is forced, or for another
 * resourceVersion.
 */
export const kubernetesPlatform = (
  path: string
): Platform & { readonly secret: () => { readonly data: ReadonlyMap<string, string> } | null } => {
  let version = 0
  let held: { type: string; data: Map<string, string>; owners: Map<string, Set<string>> } | null = null
  const status = (code: number, reason: string): Answer => ({ status: code, json: { kind: "Status", code, reason } })
  const make = () => (held ??= { type: "Opaque", data: new Map(), owners: new Map() })
  const shown = (): unknown => {
    const { data, owners, type } = make()
    const managers = new Set([...owners.values()].flatMap((some) => [...some]))
    return {
      ...{ apiVersion: "v1", kind: "Secret", type, data: Object.fromEntries(data) },
      metadata: {
        resourceVersion: String(version),
        managedFields: [...managers].map((manager) => ({
          ...{
            manager,
            operation: manager === "coffer" ? "Apply" : "Update",
            apiVersion: "v1",
            fieldsType: "FieldsV1"
          },
          fieldsV1: {
            "f:data": Object.fromEntries(
              [...owners].filter(([, some]) => some.has(manager)).map(([name]) => [`f:${name}`, {}])
            )
          }
        }))
      }
    }
  }
  const apply = (manager: string, isForced: boolean, sent: Record<string, unknown>): Answer => {
    const {
      data = {},
      metadata = {},
      type = "Opaque"
    } = sent as {
      data?: Record<string, string>
      metadata?: { resourceVersion?: string }
      type?: string
    }
    if (metadata.resourceVersion !== undefined && (held === null || metadata.resourceVersion !== String(version))) {
      return status(409, "Conflict")
    }
    const isNew = held === null
    const secret = make()
    if (isNew) secret.type = type
    if (type !== secret.type) return status(422, "Invalid")
    const conflicts = Object.entries(data).filter(
      ([name, text]) =>
        secret.data.has(name) &&
        secret.data.get(name) !== text &&
        [...(secret.owners.get(name) ?? [])].some((one) => one !== manager)
    )
    if (conflicts.length > 0 && !isForced) return status(409, "Conflict")
    for (const [name, owners] of secret.owners) {
      if (!owners.has(manager) || Object.hasOwn(data, name)) continue
      owners.delete(manager)
      if (owners.size > 0) continue
      secret.owners.delete(name)
      secret.data.delete(name)
    }
    for (const [name, text] of Object.entries(data)) {
      const owners = secret.data.get(name) === text ? (secret.owners.get(name) ?? new Set<string>()) : new Set<string>()
      secret.owners.set(name, owners.add(manager))
      secret.data.set(name, text)
    }
    version++
    return { status: isNew ? 201 : 200, json: shown() }
  }
  return {
    secret: () => held,
    answer: (arrived) => {
      const { headers, method, url } = arrived
      if (headers.authorization !== `Bearer ${token}`) return status(401, "Unauthorized")
      if (url.pathname !== path) return status(404, "NotFound")
      if (method === "GET") return held === null ? status(404, "NotFound") : { status: 200, json: shown() }
      if (method !== "PATCH" || headers["content-type"] !== "application/apply-patch+yaml") {
        return status(415, "UnsupportedMediaType")
      }
      const manager = url.searchParams.get("fieldManager")
      if (manager === null) return status(400, "BadRequest")
      return apply(manager, url.searchParams.get("force") === "true", jsonOf(arrived))
    },
    values: () =>
      Object.fromEntries([...(held?.data ?? [])].map(([name, text]) => [name, Buffer.from(text, "base64").toString()])),
    write: (name, value) => {
      const { data, owners } = make()
      version++
      if (value === null) {
        data.delete(name)
        owners.delete(name)
      } else {
        data.set(name, Buffer.from(value).toString("base64"))
        owners.set(name, new Set(["kubectl-edit"]))
      }
    }
  }
}
