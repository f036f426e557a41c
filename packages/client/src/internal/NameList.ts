import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { envNameForm, orgNameForm, projectNameForm, secretKeyForm } from "@coffer/domain/base/NameForms"
import { unexpectedResponse } from "./ClientErrors.js"
import type { Exchange, ExchangeFailure } from "./Exchange.js"
import { isArray, parseJson } from "./ParseJson.js"
import { textOf } from "./Send.js"

/** The lists of the server, from the outside in. The lists of secrets hold keys without values. */
const levels = [
  { segment: "orgs", field: "name", form: orgNameForm },
  { segment: "projects", field: "name", form: projectNameForm },
  { segment: "envs", field: "name", form: envNameForm },
  { segment: "secrets", field: "key", form: secretKeyForm }
] as const

/** The names of an organization, a project in it and an environment in that, or the first of them, or none. */
export type NamePath = ReadonlyArray<string>

/** A list of the server: where it is, and the field of its names. */
export interface NameList {
  readonly path: ReadonlyArray<string>
  readonly field: string
  readonly form: { readonly is: (text: string) => boolean }
}

/** The organizations, the projects of one, the environments of a project, or the keys of an environment. */
export const placeList = (path: NamePath): NameList => {
  const { field, form } = levels[path.length] ?? levels[0]
  const segments = levels
    .slice(0, path.length + 1)
    .flatMap(({ segment }, index) => [segment, ...path.slice(index, index + 1)])
  return { path: segments, field, form }
}

const matching = (pattern: RegExp) => ({ is: (text: string) => pattern.test(text) })
const id = matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const word = matching(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)

/** The lists of an organization. Names that need quotes in a shell are left out. */
const orgLists = {
  member: { segment: "members", field: "email", form: matching(/^[a-z0-9._+-]+@[a-z0-9.-]+$/) },
  account: { segment: "service-accounts", field: "name", form: word },
  group: { segment: "groups", field: "name", form: word },
  rule: { segment: "acl", field: "id", form: id },
  webhook: { segment: "webhooks", field: "id", form: id },
  request: { segment: "requests?limit=100", field: "id", form: id },
  approval: { segment: "approvals", field: "id", form: id },
  export: { segment: "exports", field: "id", form: id }
} as const

export type OrgListKind = keyof typeof orgLists

export const isOrgListKind = (kind: string): kind is OrgListKind => Object.hasOwn(orgLists, kind)

export const orgList = (kind: OrgListKind, org: string): NameList => {
  const { field, form, segment } = orgLists[kind]
  return { path: ["orgs", org, segment], field, form }
}

/** The targets of an environment. */
export const targetList = (path: NamePath): NameList => ({
  ...placeList(path),
  path: [...placeList(path.slice(0, 2)).path, ...path.slice(2, 3), "targets"],
  field: "name",
  form: word
})

/** The lists of a server whose records have ids. */
export const idLists = {
  session: { path: ["auth", "sessions"], field: "id", form: id },
  backup: { path: ["backups"], field: "id", form: id }
} as const satisfies Readonly<Record<string, NameList>>

export type IdListKind = keyof typeof idLists

export const isIdListKind = (kind: string): kind is IdListKind => Object.hasOwn(idLists, kind)

export type DependentIdKind = "delivery" | "use-rule"

export const isDependentIdKind = (kind: string): kind is DependentIdKind => kind === "delivery" || kind === "use-rule"

/** The records of a webhook, or of a key of an environment: none where that is not named. */
export const dependentIdList = (
  kind: DependentIdKind,
  [org, project, env]: ReadonlyArray<string | undefined>,
  owner: string | undefined
): NameList | undefined => {
  if (org === undefined || owner === undefined) return undefined
  if (kind === "delivery") {
    return id.is(owner)
      ? { path: ["orgs", org, "webhooks", owner, "deliveries?limit=100"], field: "id", form: id }
      : undefined
  }
  return project === undefined || env === undefined || !secretKeyForm.is(owner)
    ? undefined
    : { path: [...placeList([org, project, env]).path, owner, "use-rules"], field: "id", form: id }
}

/** The federations of a service account, by its id. */
export const federationList = (org: string, account: string): NameList => ({
  path: ["orgs", org, "service-accounts", account, "federations"],
  field: "name",
  form: word
})

/** The names in a list of texts. What breaks the form of a name is left out: no shell gets what only a server wrote. */
export const namesIn = ({ form }: NameList, texts: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  texts.filter((text) => typeof text === "string").filter((text) => form.is(text))

const readRecords = Effect.fnUntraced(function* (exchange: Exchange, { path }: NameList) {
  const { once, url } = exchange
  const response = yield* once({ url: new URL(`${url}/api/${path.join("/")}`), method: "GET" })
  const found = Option.getOrUndefined(parseJson(textOf(response)))
  if (Predicate.hasProperty(found, "data") && isArray(found.data)) return found.data
  return yield* unexpectedResponse(url, response)
})

const fieldOf = (record: unknown, field: string): unknown =>
  Predicate.hasProperty(record, field) ? record[field] : undefined

/**
 * Reads the names of a list, once, without the contract and its schemas, which load too slowly for a shell that waits for a
 * completion.
 */
export const readNames = (exchange: Exchange, list: NameList): Effect.Effect<ReadonlyArray<string>, ExchangeFailure> =>
  Effect.map(readRecords(exchange, list), (records) =>
    namesIn(
      list,
      records.map((record) => fieldOf(record, list.field))
    )
  )

/** Reads the id of a service account by its name; an id is returned as it is. */
export const readAccountId = (
  exchange: Exchange,
  org: string,
  account: string
): Effect.Effect<string | undefined, ExchangeFailure> => {
  if (id.is(account)) return Effect.succeed(account)
  return Effect.map(readRecords(exchange, orgList("account", org)), (records) => {
    const found = fieldOf(
      records.find((record) => fieldOf(record, "name") === account),
      "id"
    )
    return typeof found === "string" && id.is(found) ? found : undefined
  })
}
