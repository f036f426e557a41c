import { auditActions } from "@coffer/domain/audit/AuditEntry"
import { AuditActor, AuditSince, AuditUntil } from "@coffer/domain/audit/AuditFilters"
import { defined } from "@coffer/domain/base/Defined"
import { EnvName, type OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import type { LogCursor } from "@coffer/domain/audit/AuditCursor"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { call } from "../../client/Calls.js"

/** Filters as they are typed. */
export interface Typed {
  readonly action: string
  readonly actor: string
  readonly project: string
  readonly env: string
  readonly key: string
  readonly since: string
  readonly until: string
}

export const noFilters: Typed = { action: "", actor: "", project: "", env: "", key: "", since: "", until: "" }

/** The filters that an address names. */
export const filtersOf = (query: URLSearchParams): Typed => ({
  action: query.get("action") ?? "",
  actor: query.get("actor") ?? "",
  project: query.get("project") ?? "",
  env: query.get("env") ?? "",
  key: query.get("key") ?? "",
  since: query.get("since") ?? "",
  until: query.get("until") ?? ""
})

export const names = ["actor", "project", "env", "key", "since", "until"] as const

/** Undefined: the text is not complete. */
const decode = <A, I>(schema: Schema.Schema<A, I>, text: string): A | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(text.trim()))

/** Returns the query parameters of the complete filters; a half-typed one is omitted. */
const paramsOf = ({ action, actor, env, key, project, since, until }: Typed) =>
  defined({
    action: auditActions.find((one) => one === action),
    actor: decode(AuditActor, actor),
    project: decode(ProjectName, project),
    env: decode(EnvName, env),
    key: decode(SecretKey, key),
    since: decode(AuditSince, since),
    until: decode(AuditUntil, until)
  })

/** The filters that are typed and do not count, because they are no name or no time. */
export const badOf = (typed: Typed): ReadonlyArray<(typeof names)[number]> => {
  const params = paramsOf(typed)
  return names.filter((name) => typed[name].trim() !== "" && params[name] === undefined)
}

/** Reads how much happened when, of the entries that fit the filters. */
export const readActivity = (org: OrgName, typed: Typed) =>
  call("audit", (api) => api.activity({ path: { org_name: org }, urlParams: paramsOf(typed) }))

/** Names a request, so that equal filters are not read twice. */
export const nameOf = (org: OrgName, typed: Typed): string => JSON.stringify([org, paramsOf(typed)])

export const readPage = (org: OrgName, typed: Typed, after?: typeof LogCursor.Type) =>
  call("audit", (api) =>
    api.list({
      path: { org_name: org },
      urlParams: { ...paramsOf(typed), limit: maxPageSize, ...(after !== undefined && { after }) }
    })
  )
