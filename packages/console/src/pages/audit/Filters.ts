import { auditActions } from "@coffer/domain/AuditEntry"
import type { AuditEntry } from "@coffer/domain/AuditEntry"
import { AuditActor, AuditSince } from "@coffer/domain/AuditFilters"
import { EnvName, type OrgName, ProjectName, SecretKey } from "@coffer/domain/Names"
import type { LogCursor } from "@coffer/domain/AuditCursor"
import { maxPageSize } from "@coffer/domain/Schemas"
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
}

export const noFilters: Typed = { action: "", actor: "", project: "", env: "", key: "", since: "" }

export const names = ["actor", "project", "env", "key", "since"] as const

const decode = <A, I>(schema: Schema.Schema<A, I>, text: string): A | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(text.trim()))

/** What of the filters is complete; a half-typed one does not count. */
const paramsOf = ({ action, actor, env, key, project, since }: Typed) => {
  const found = {
    action: auditActions.find((one) => one === action),
    actor: decode(AuditActor, actor),
    project: decode(ProjectName, project),
    env: decode(EnvName, env),
    key: decode(SecretKey, key),
    since: decode(AuditSince, since)
  }
  return {
    ...(found.action !== undefined && { action: found.action }),
    ...(found.actor !== undefined && { actor: found.actor }),
    ...(found.project !== undefined && { project: found.project }),
    ...(found.env !== undefined && { env: found.env }),
    ...(found.key !== undefined && { key: found.key }),
    ...(found.since !== undefined && { since: found.since })
  }
}

/** Names a request, so that equal filters are not read twice. */
export const nameOf = (org: OrgName, typed: Typed): string => JSON.stringify([org, paramsOf(typed)])

export const readPage = (org: OrgName, typed: Typed, after?: typeof LogCursor.Type) =>
  call("audit", (api) =>
    api.list({
      path: { org_name: org },
      urlParams: { ...paramsOf(typed), limit: maxPageSize, ...(after !== undefined && { after }) }
    })
  )

const isText = (value: unknown): value is string => typeof value === "string"

/** Where an entry happened, as far as its details say. */
export const placeOf = ({ metadata }: AuditEntry): string =>
  [metadata["project"], metadata["env"], metadata["key"]].filter(isText).join("/")

/** The other details, without what `placeOf` says. */
export const detailsOf = ({ metadata }: AuditEntry): string =>
  Object.entries(metadata)
    .filter(([name]) => !["project", "env", "key"].includes(name))
    .map(([name, value]) => `${name} ${isText(value) ? value : JSON.stringify(value)}`)
    .join(" · ")
