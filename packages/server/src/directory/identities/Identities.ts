import { Forbidden, RateLimited } from "@coffer/domain/errors/Errors"
import type { UserId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AuditSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { makeLoginGroups } from "../groups/LoginGroups.js"
import type { Complete, LoggedIn } from "../login/CompletedLogin.js"
import { authRepo } from "../../access/caller/credentials/Repo.js"
import { isOfDomain, mayLogIn } from "../login/Signup.js"
import { UnknownLoginAudit } from "../login/UnknownLoginAudit.js"
import { Users } from "../login/Users.js"
import { ServerConfig } from "../../base/Config.js"
import { Database, outcomeOf } from "../../database/Database.js"
import { addressScope } from "../../database/Scopes.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { clientNetwork } from "../../database/limits/ClientNetwork.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import type { Claims } from "./ProviderLogin.js"
import { identitiesRepo } from "./Repo.js"

const failures: RateLimit = { kind: "oidc_failure", max: 30, window: 15 * 60_000 }

/** Why a person that the provider has proven may not log in. `reason` is for the audit log. */
class Refused extends Data.TaggedError("Refused")<{ readonly reason: string; readonly message: string }> {}

const disabled = new Refused({
  reason: "disabled",
  message: "this user is disabled: contact the operator of the server"
})

const decodeEmail = Schema.decodeOption(Email)

/**
 * The identities of people at the provider. An identity is the issuer and the subject, never an address: a provider may change
 * an address, or give it to somebody else. An identity belongs to one user for good, and a user has one of each issuer.
 */
export class Identities extends Effect.Service<Identities>()("@coffer/server/Identities", {
  effect: Effect.gen(function* () {
    const config = yield* ServerConfig
    const audit = yield* AuditLog
    const { change, transaction } = yield* Database
    const limits = yield* RateLimits
    const repo = yield* identitiesRepo
    const strangers = yield* UnknownLoginAudit
    const users = yield* Users
    const auth = yield* authRepo
    const groups = yield* makeLoginGroups
    const name = config.provider?.name ?? ""
    const allowedDomains = config.provider?.allowedDomains ?? []
    const linksKnownUsers = config.provider?.linksKnownUsers ?? false

    const sourceOf = (id: UserId | null, address: string): AuditSource => ({
      actor: { type: "user", id, name: address },
      orgId: null
    })

    /** Links a person without an identity, who may be known by the address or sign up with it. */
    const link = Effect.fnUntraced(function* ({ issuer, provenAt, sub }: Claims, email: Email, now: string) {
      const known = yield* auth.findUser({ email })
      if (!mayLogIn(config, email, known)) {
        return yield* known === undefined
          ? new Refused({
              reason: "no_sign_up",
              message: "nobody with this address was invited, and sign-up is not open"
            })
          : disabled
      }
      if (known !== undefined && !linksKnownUsers) {
        return yield* new Refused({
          reason: "not_linked",
          message: "a user with this address is known, and this server links no known users: log in another way"
        })
      }
      const { id: userId, logins_ended: ended } = known ?? (yield* users.ensure(email))
      const linked = yield* repo.link({ id: yield* uuidV7, issuer, sub, userId, email, now })
      if (linked.length === 0) {
        return yield* new Refused({
          reason: "other_identity",
          message: `the user with this address belongs to another account at ${name}: contact the operator of the server`
        })
      }
      return { id: userId, email, ended, provenAt } satisfies LoggedIn
    })

    /** Finds the user of a verified address, or fails with the reason why there is none. */
    const resolve = Effect.fnUntraced(function* (claims: Claims, email: Email | null) {
      if (claims.sub === "") {
        return yield* new Refused({
          reason: "no_subject",
          message: `${name} gave no identity: contact its operator`
        })
      }
      if (email === null) {
        return yield* new Refused({
          reason: "no_address",
          message: `${name} gave no e-mail address that can be used here`
        })
      }
      if (!claims.isVerified) {
        return yield* new Refused({
          reason: "not_verified",
          message: `your e-mail address is not verified at ${name}: verify it there, then log in again`
        })
      }
      const now = timestamp(yield* Clock.currentTimeMillis)
      if (allowedDomains.length > 0 && !isOfDomain(email, allowedDomains)) {
        return yield* new Refused({ reason: "domain", message: "addresses of this domain may not log in here" })
      }
      const found = yield* repo.find({ issuer: claims.issuer, sub: claims.sub })
      if (found === undefined) return yield* link(claims, email, now)
      if (found.disabled_at !== null) return yield* disabled
      yield* repo.touch({ id: found.id, email, now })
      return {
        id: found.user_id,
        email: found.email,
        ended: found.logins_ended,
        provenAt: claims.provenAt
      } satisfies LoggedIn
    })

    /** Records a refused login. Strangers could fill the log, so entries without a user are bounded. */
    const refused = Effect.fnUntraced(function* (address: string, userId: UserId | null, reason: string) {
      yield* limits.count(failures, clientNetwork((yield* RequestInfo).ip))
      if (userId === null && !strangers.admits(["auth.verify_failed"])) return
      yield* audit.change(sourceOf(userId, address), {
        action: "auth.verify_failed",
        resource_type: "user",
        resource_id: userId,
        metadata: { method: "oidc", reason }
      })
    })

    /**
     * Completes a login that the provider has proven. Fails with Forbidden, which says why. An address that is not verified
     * there is refused in any case: whoever can enter one would be its owner here.
     */
    const logIn = <A, E, R>(claims: Claims, complete: Complete<A, E, R>) => {
      // As the provider spells it: white space around it would be another address, or an attempt at one.
      const email = /^\S+$/.test(claims.email ?? "") ? Option.getOrNull(decodeEmail(claims.email ?? "")) : null
      return change(
        [addressScope(`${claims.issuer} ${claims.sub}`), ...(email === null ? [] : [addressScope(email)])],
        Effect.matchEffect(resolve(claims, email), {
          onFailure: ({ message, reason }) =>
            Effect.gen(function* () {
              const user = email === null ? undefined : yield* auth.findUser({ email })
              yield* refused(email ?? name, user?.id ?? null, reason)
              return new Forbidden({ message })
            }),
          onSuccess: (person) =>
            Effect.gen(function* () {
              const { result, resource } = yield* complete(person)
              const step = yield* groups.bring(person.id, claims.groups)
              yield* audit.change(sourceOf(person.id, person.email), {
                action: "auth.verify",
                ...resource,
                metadata: { method: "oidc" }
              })
              return Effect.as(groups.bringRest(person.id, step), result)
            })
        })
      ).pipe(outcomeOf)
    }

    const limited = (seconds: number) =>
      new RateLimited({
        message: `too many refused logins from this address: try again in ${seconds} seconds`,
        retryAfter: seconds
      })

    /** Fails with RateLimited after 30 refused logins from a client's network in 15 minutes: each asks the provider. */
    const checkLimit = Effect.flatMap(RequestInfo, ({ ip }) => {
      const network = clientNetwork(ip)
      return Effect.flatMap(transaction(limits.wait(failures, network)), (wait) =>
        wait === 0 ? Effect.void : limited(wait)
      ).pipe(limits.limited(failures, network, limited))
    })

    /** Records that the provider's answer was refused, before anything is known of the person. */
    const refuse = (reason: string) => transaction(refused(name, null, reason))

    /** Whether a user logs in by the provider. */
    const has = (userId: UserId) =>
      config.provider === null
        ? Effect.succeed(false)
        : Effect.map(repo.ofUser({ issuer: config.provider.issuer, userId }), (row) => row !== undefined)

    return { logIn, checkLimit, refuse, has } as const
  }),
  dependencies: [RateLimits.Default, UnknownLoginAudit.Default, Users.Default]
}) {}
