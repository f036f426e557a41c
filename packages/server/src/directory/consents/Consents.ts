import type { UserActor } from "@coffer/domain/access/Actor"
import type { CodeChallenge } from "@coffer/domain/directory/ClientLogin"
import { type DelegablePermission, delegablePermissions } from "@coffer/domain/directory/Delegation"
import { RateLimited, ValidationError } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"
import type * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Place } from "../../access/Access.js"
import { atLeast } from "../../access/place/Decisions.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import { method } from "../../base/tracing/Traced.js"
import { Database } from "../../database/Database.js"
import { clientNetwork } from "../../database/limits/ClientNetwork.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { userScope } from "../../database/Scopes.js"
import { fitsChallenge, mintClientSecret } from "../../keys/ClientCodes.js"
import { hashToken, isWellFormed, mintToken } from "../../keys/Token.js"
import { Delegations } from "../delegations/Delegations.js"
import type { AuthorizationRequest } from "./AuthorizationRequest.js"
import { type AskedScope, scopeOf } from "./AskedScope.js"
import { delegationNameOf } from "./Program.js"
import { type ConsentRow, consentsRepo } from "./Repo.js"

const minute = 60_000
/** How long a code is valid. */
const codeMillis = minute

const window = 15 * minute
/** Many people of one address, and the people of a host of agents, which fetches all their tokens from a few addresses. */
const limits = {
  review: { kind: "oauth_review", max: 60, window },
  consent: { kind: "oauth_consent", max: 30, window },
  register: { kind: "oauth_register", max: 30, window },
  token: { kind: "oauth_token", max: 600, window },
  revoke: { kind: "oauth_revoke", max: 600, window }
} as const satisfies Record<string, RateLimit>

/** The decision of a person. */
export interface ConsentTerms extends AskedScope {
  readonly keys?: ReadonlyArray<SecretKey>
  readonly expires_in: number
}

/** A code that a program brings, with all that it is bound to. */
export interface BroughtCode {
  readonly code: string
  readonly clientId: string
  /** OAuth 2.0 asks for it, and 2.1 does not: the code is bound to the challenge (draft 13, section 10.2). */
  readonly redirectUri: string | undefined
  readonly verifier: Redacted.Redacted
}

/** A token as the program gets it. */
export interface IssuedToken {
  readonly token: Redacted.Redacted
  readonly seconds: number
  readonly scope: string
}

const beyond = (field: string, what: string) =>
  new ValidationError({ message: `${field}: the program did not ask for ${what}` })

const permissionOf = ({ permission }: ConsentRow): DelegablePermission =>
  delegablePermissions.find((one) => one === permission) ?? "use"

/** The programs that people gave a part of their rights by consent: each is a delegation, and the program that has its token. */
export class Consents extends Effect.Service<Consents>()("@coffer/server/Consents", {
  effect: Effect.gen(function* () {
    const repo = yield* consentsRepo
    const audit = yield* AuditLog
    const delegations = yield* Delegations
    const rates = yield* RateLimits
    const { change, clock, transaction } = yield* Database

    const limited = (seconds: number) =>
      new RateLimited({
        message: `too many requests to connect programs: try again in ${seconds} seconds`,
        retryAfter: seconds
      })

    const countFor = (limit: RateLimit, subject: string) =>
      transaction(
        Effect.gen(function* () {
          const wait = yield* rates.wait(limit, subject)
          if (wait > 0) return yield* limited(wait)
          yield* rates.count(limit, subject)
        })
      ).pipe(rates.limited(limit, subject, limited))

    /** Counts a request of the client's network, and of a person. Fails with RateLimited beyond the limit of either. */
    const count = (of: keyof typeof limits, person?: UserActor) =>
      Effect.gen(function* () {
        const { ip } = yield* RequestInfo
        if (person !== undefined) yield* countFor(limits[of], `user ${person.id}`)
        yield* countFor(limits[of], clientNetwork(ip))
      })

    /**
     * Makes the delegation of a program, and the code that becomes its token. Until then, nobody has a token of the delegation, which
     * ends with the code. Call it in the transaction that enters the places.
     */
    const consent = method(
      "Consents.consent",
      function* (
        entered: Array.NonEmptyReadonlyArray<Place<"secret.use" | "secret.list" | "secret.write">>,
        person: UserActor,
        { program, redirectUri }: AuthorizationRequest,
        asked: AskedScope & { readonly challenge: CodeChallenge },
        terms: ConsentTerms
      ) {
        if (!atLeast(delegablePermissions, asked.permission, terms.permission)) {
          return yield* beyond("permission", terms.permission)
        }
        if (terms.reveal && !asked.reveal) return yield* beyond("reveal", "values")
        const code = yield* mintClientSecret
        const millis = yield* clock
        const { id } = yield* delegations.create(entered, person, {
          ...terms,
          name: delegationNameOf(program),
          program: { name: program.name, ...(program.host !== null && { host: program.host }) }
        })
        const codeEnd = millis + codeMillis
        yield* repo.wait({ id, codeEnd })
        yield* repo.insert({
          id,
          client: hashToken(program.id),
          name: program.name,
          host: program.host,
          redirectUri,
          challenge: asked.challenge,
          hash: hashToken(Redacted.value(code)),
          codeEnd,
          endsAt: millis + terms.expires_in * 1_000
        })
        return code
      }
    )

    /** Ends the delegation of a program. */
    const end = (row: ConsentRow, because: string) =>
      Effect.gen(function* () {
        yield* repo.forget({ id: row.delegation_id })
        if ((yield* repo.end({ id: row.delegation_id })).length === 0) return
        const { delegation_id: id, name, permission } = row
        yield* audit.change(
          { actor: { type: "user", id: row.user_id, name: row.email }, orgId: row.org_id, delegation: { id, name } },
          {
            action: "delegation.revoke",
            resource_type: "delegation",
            resource_id: id,
            metadata: { name, permission, because }
          }
        )
      })

    /**
     * Exchanges a code for the token of its delegation; null if the code is wrong, expired, or not for this program. A code that is
     * brought twice ends what it made: one of the two may be a thief (RFC 9700, section 4.5).
     */
    const exchange = method("Consents.exchange", function* (brought: BroughtCode) {
      const hash = hashToken(brought.code)
      const found = yield* repo.byCode({ hash })
      if (found === undefined) return null
      return yield* change(
        [userScope(found.user_id)],
        Effect.gen(function* () {
          const row = yield* repo.byCode({ hash })
          if (row === undefined) return null
          if (row.used_at !== null) {
            yield* end(row, "its code was brought twice")
            return null
          }
          const fits =
            row.client_hash === hashToken(brought.clientId) &&
            row.redirect_uri === (brought.redirectUri ?? row.redirect_uri) &&
            fitsChallenge(brought.verifier, row.challenge)
          if (!fits || (yield* repo.use({ id: row.delegation_id })).length === 0) return null
          const token = yield* mintToken("delegation")
          yield* repo.begin({ id: row.delegation_id, hash: hashToken(Redacted.value(token)), endsAt: row.ends_at })
          const issued: IssuedToken = {
            token,
            seconds: Math.max(1, Math.floor((row.ends_at - (yield* clock)) / 1_000)),
            scope: scopeOf({ permission: permissionOf(row), reveal: row.reveal === 1 })
          }
          return issued
        })
      )
    })

    /** Ends a token for the program that has it (RFC 7009). An unknown token, or one of another program, is left alone. */
    const revoke = method("Consents.revoke", function* (token: string, clientId: string) {
      if (!isWellFormed("delegation", token)) return
      const hash = hashToken(token)
      const found = yield* repo.byToken({ hash })
      if (found === undefined || found.client_hash !== hashToken(clientId)) return
      yield* change([userScope(found.user_id)], end(found, "the program gave it back"))
    })

    return { count, consent, exchange, revoke } as const
  }),
  dependencies: [Delegations.Default, RateLimits.Default]
}) {}
