import { type Actor, actorName } from "@coffer/domain/access/Actor"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { longObject } from "../../http/LongList.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import type { EnvironmentState } from "../../secrets/stored/Repo.js"
import type { AuthBlock, Description, Metadata, Token, Version } from "../../http/vault/Contract.js"
import type { Lifetime } from "./KeySessions.js"

const policies = ["default"]

const frame = <Data, Auth>(data: Data, auth: Auth) =>
  Effect.map(RequestInfo, ({ id }) => ({
    request_id: id,
    lease_id: "" as const,
    renewable: false,
    lease_duration: 0,
    data,
    wrap_info: null,
    warnings: null,
    auth
  }))

export const withData = <Data>(data: Data) => frame(data, null)

/** A token with how long it lasts. */
export const withToken = (
  token: Redacted.Redacted,
  { renewable, ttl }: Pick<Lifetime, "renewable" | "ttl">,
  metadata: Readonly<Record<string, string>>
) => {
  const auth: AuthBlock = {
    client_token: token,
    accessor: "",
    policies,
    token_policies: policies,
    metadata,
    lease_duration: ttl,
    renewable,
    entity_id: "",
    token_type: "service",
    orphan: true,
    mfa_requirement: null,
    num_uses: 0
  }
  return frame(null, auth)
}

export const metadataOf = (actor: Actor): Readonly<Record<string, string>> => {
  if (actor.type === "service_account") return { account: actor.name, organization: actor.orgName }
  const { delegation, email } = actor
  return delegation === null ? {} : { delegation: delegation.name, person: email, organization: delegation.org.name }
}

const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000)

/** How the caller signed in, as the path of Vault's login. */
const pathOf = (actor: Actor): string => {
  if (actor.type === "user") return "auth/token/create"
  const { credential } = actor
  if (credential.type === "federation") return "auth/jwt/login"
  return credential.sessionId === null ? "auth/token/create" : "auth/approle/login"
}

export const tokenOf = (actor: Actor, id: Redacted.Redacted, lifetime: Lifetime): Token => ({
  accessor: "",
  creation_time: seconds(lifetime.created_at),
  creation_ttl: lifetime.expires_at === null ? 0 : seconds(lifetime.expires_at) - seconds(lifetime.created_at),
  display_name: actorName(actor),
  entity_id: "",
  expire_time: lifetime.expires_at,
  explicit_max_ttl: 0,
  id,
  issue_time: lifetime.created_at,
  meta: metadataOf(actor),
  num_uses: 0,
  orphan: true,
  path: pathOf(actor),
  policies,
  renewable: lifetime.renewable,
  ttl: lifetime.ttl,
  type: "service"
})

/** Programs in Go take no other text for the absence of a time. */
export const noTime = "0001-01-01T00:00:00Z"

export const versionSince = (created_time: string): Version => ({ created_time, deletion_time: "", destroyed: false })

/** An environment's current version; the earlier ones are not served. */
export const descriptionOf = ({ created_at, revision, updated_at }: EnvironmentState): Description => {
  const updated_time = updated_at ?? noTime
  return {
    cas_required: false,
    created_time: created_at,
    current_version: revision,
    custom_metadata: null,
    delete_version_after: "0s",
    max_versions: 0,
    oldest_version: revision,
    updated_time,
    versions: { [revision]: versionSince(updated_time) }
  }
}

const noValues = '"data":{}'

/** The values of an environment, encoded in slices. */
export const withValues = (entries: ReadonlyArray<readonly [string, Redacted.Redacted]>, metadata: Metadata) =>
  Effect.flatMap(withData({ data: {}, metadata }), (framed) => {
    const [before = "", after = ""] = JSON.stringify(framed).split(noValues)
    return longObject(entries, [`${before}"data":`, after])
  })
