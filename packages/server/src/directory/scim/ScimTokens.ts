import { actorName } from "@coffer/domain/access/Actor"
import type { OrgId, ScimTokenId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { type Scim, scimGraceHours, type ScimToken, type ScimWithToken } from "@coffer/domain/directory/Scim"
import { Conflict, Unauthorized } from "@coffer/domain/errors/Errors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type Place, sourceOf } from "../../access/Access.js"
import type { Named } from "../../access/place/PlaceRow.js"
import type { AuditEvent } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { now, timestamp } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database } from "../../database/Database.js"
import { hashToken, isWellFormed, keyHint, mintToken } from "../../keys/Token.js"
import { scimRepo, type TokenRow } from "./Repo.js"

const hourMillis = 3_600_000
/** How exactly the last use of a token is known. */
const useMillis = 60_000

/** The token of a directory's request. */
export interface DirectoryToken {
  readonly id: ScimTokenId
  readonly org: Named<OrgId, OrgName>
}

const refusal = new Unauthorized({
  message:
    "no token of a directory, or one that is unknown, has ended, or is another organization's: an owner makes one with coffer scim enable"
})

const tokenOf = ({ expires_at, id: _, ...row }: TokenRow): ScimToken => ({
  ...row,
  ...(expires_at !== null && { expires_at: timestamp(expires_at) })
})

type ScimPlace = Place<"scim.read" | "scim.enable" | "scim.rotate" | "scim.disable">

/** The tokens of directories that manage the people of organizations. A token is returned once; the database holds its hash. */
export class ScimTokens extends Effect.Service<ScimTokens>()("@coffer/server/ScimTokens", {
  effect: Effect.gen(function* () {
    const repo = yield* scimRepo
    const audit = yield* AuditLog
    const { scimDomains } = yield* ServerConfig
    const { transaction } = yield* Database

    /** The domains of the people whom the directory of an organization may manage. */
    const domainsOf = (name: OrgName): ReadonlyArray<string> =>
      scimDomains.flatMap(({ domain, org }) => (org === null || org === name ? [domain] : []))

    const show = method("ScimTokens.show", function* ({ org }: ScimPlace) {
      const [tokens, counts] = yield* Effect.all([repo.tokens({ orgId: org.id }), repo.counts({ orgId: org.id })])
      const scim: Scim = {
        enabled: tokens.length > 0,
        path: `/scim/v2/${org.name}`,
        domains: domainsOf(org.name),
        tokens: tokens.map(tokenOf),
        ...counts
      }
      return scim
    })

    const record = (place: ScimPlace, action: AuditEvent["action"], metadata: AuditEvent["metadata"] = {}) =>
      audit.change(sourceOf(place), { action, resource_type: "org", resource_id: place.org.id, metadata })

    const issue = Effect.fnUntraced(function* (place: ScimPlace, action: "scim.enable" | "scim.rotate") {
      const token = yield* mintToken("scim")
      const text = Redacted.value(token)
      const row = {
        ...{ id: yield* uuidV7, org_id: place.org.id, token_hash: hashToken(text), hint: keyHint(text) },
        ...{ created_by: actorName(place.actor), created_at: yield* now }
      }
      yield* repo.insert([row])
      yield* record(place, action, { hint: row.hint })
      const made: ScimWithToken = { ...(yield* show(place)), token }
      return made
    })

    const off = ({ org }: ScimPlace) =>
      new Conflict({ message: `no directory manages the people of ${org.name}: begin with coffer scim enable` })

    const enable = method("ScimTokens.enable", function* (place: Place<"scim.enable">) {
      if (domainsOf(place.org.name).length === 0) {
        return yield* new Conflict({
          message: `no directory may manage the people of ${place.org.name}: ask the server's operator to set SERVICE_SCIM_DOMAINS`
        })
      }
      const { enabled } = yield* show(place)
      if (enabled) {
        return yield* new Conflict({ message: "a directory has a token already: renew it with coffer scim rotate" })
      }
      return yield* issue(place, "scim.enable")
    })

    const rotate = method("ScimTokens.rotate", function* (place: Place<"scim.rotate">) {
      const orgId = place.org.id
      if (!(yield* show(place)).enabled) return yield* off(place)
      yield* repo.removeReplaced({ orgId })
      yield* repo.replace({ orgId, grace: scimGraceHours * hourMillis })
      return yield* issue(place, "scim.rotate")
    })

    const disable = method("ScimTokens.disable", function* (place: Place<"scim.disable">) {
      if (!(yield* show(place)).enabled) return yield* off(place)
      yield* repo.removeAll({ orgId: place.org.id })
      yield* record(place, "scim.disable")
    })

    /** Finds the token of a request to an organization. Fails with one message, whatever is wrong. */
    const identify = Effect.fnUntraced(function* (text: string, org: string) {
      const found = isWellFormed("scim", text) ? yield* repo.byHash({ hash: hashToken(text), org }) : undefined
      if (found === undefined) return yield* refusal
      const millis = yield* Clock.currentTimeMillis
      if (found.last_used_at === null || found.last_used_at < timestamp(millis - useMillis)) {
        yield* transaction(repo.touch({ id: found.id, now: timestamp(millis) }))
      }
      const token: DirectoryToken = { id: found.id, org: { id: found.org_id, name: found.org_name } }
      return token
    })

    /** Reads a token again, in the change that it makes: it may have been revoked meanwhile, and its organization renamed. */
    const revalidate = Effect.fnUntraced(function* ({ id }: DirectoryToken) {
      const found = yield* repo.byId({ id })
      if (found === undefined) return yield* refusal
      const token: DirectoryToken = { id, org: { id: found.org_id, name: found.org_name } }
      return token
    })

    return { show, enable, rotate, disable, identify, revalidate, domainsOf } as const
  })
}) {}
