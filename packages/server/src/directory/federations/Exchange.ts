import { audienceOf, type Claims } from "@coffer/domain/directory/Claims"
import { RateLimited, Unauthorized } from "@coffer/domain/errors/Errors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { counter } from "../../base/Metrics.js"
import { makeOutside } from "../../access/caller/AccountNetworks.js"
import { AuditLog } from "../../audit/AuditLog.js"
import type { AuditSource } from "../../audit/AuditEvent.js"
import { UnknownLoginAudit } from "../login/UnknownLoginAudit.js"
import { ServerConfig } from "../../base/Config.js"
import { Database, outcomeOf } from "../../database/Database.js"
import { orgScope } from "../../database/Scopes.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { hashToken, mintToken } from "../../keys/Token.js"
import { clientNetwork } from "../../database/limits/ClientNetwork.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import { method } from "../../base/tracing/Traced.js"
import { type Checked, explain, type Mismatch, recordOf, sentenceOf } from "./ClaimChecks.js"
import { type AccountRow, type FederationRow, federationsRepo } from "./Repo.js"
import { Signatures, type Verified } from "./Signatures.js"

const failures: RateLimit = { kind: "federate", max: 30, window: 15 * 60_000 }
/** Of all accounts together: a stranger can name as many as he likes. */
const allFailures: RateLimit = { kind: "federate_all", max: 300, window: 15 * 60_000 }
/** Tokens that an account exchanges from a network: each makes a session and an audit entry. */
const exchanges: RateLimit = { kind: "federate_accepted", max: 600, window: 15 * 60_000 }
const maxSubject = 500

/** Tokens that were refused. An increase shows that someone tries tokens, or that an issuer changed its claims. */
export const exchangeFailures = counter(
  "coffer_federation_failures_total",
  "Tokens of machines that were refused, for all accounts"
)
/** Tokens that were not looked at, because of the rate limit. */
export const exchangeRefusals = counter(
  "coffer_federation_refusals_total",
  "Tokens of machines that were not looked at, because of the rate limit"
)

/** The same for every token that is not verified, whether the account exists or not. */
const unsigned = new Unauthorized({
  message:
    "the token is refused: it is malformed, its signature does not hold, or the account takes no tokens of its issuer"
})

const refused = (name: string, mismatches: ReadonlyArray<Mismatch>) =>
  new Unauthorized({ message: `no federation of account ${name} takes this token: ${sentenceOf(mismatches)}` })

const tooMany = (what: string) => (retryAfter: number) =>
  new RateLimited({
    message: `too many tokens were ${what} from this address: try again in ${retryAfter} seconds`,
    retryAfter
  })

const limited = tooMany("refused")
const limitedExchanges = tooMany("exchanged for this account")

const subjectOf = ({ sub }: Claims): string => (typeof sub === "string" ? sub.slice(0, maxSubject) : "")

/** A token that was refused, and the account that it was for, as the caller named it. */
interface Refusal {
  readonly name: string
  readonly account: AccountRow | undefined
  readonly error: Unauthorized
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Exchanges tokens of issuers for sessions of service accounts. */
export class Exchange extends Effect.Service<Exchange>()("@coffer/server/Exchange", {
  effect: Effect.gen(function* () {
    const repo = yield* federationsRepo
    const signatures = yield* Signatures
    const audit = yield* AuditLog
    const limits = yield* RateLimits
    const strangers = yield* UnknownLoginAudit
    const { change, transaction } = yield* Database
    const { publicUrl } = yield* ServerConfig
    const isOutside = makeOutside()

    const sourceOf = ({ account, name }: Pick<Refusal, "account" | "name">): AuditSource => ({
      actor: { type: "service_account", id: account?.id ?? null, name: account?.name ?? name },
      orgId: account?.org_id ?? null
    })

    /** Seconds until a token for the account is looked at again. The same for accounts that exist and that do not. */
    const waitOf = (reference: string, network: string) =>
      Effect.zipWith(limits.wait(failures, `${reference} ${network}`), limits.wait(allFailures, network), (own, all) =>
        Math.max(own, all)
      )

    /** Counts and records a refusal, and returns its error. Fails if a limit was reached meanwhile. */
    const record = (refusal: Refusal, reference: string, network: string) =>
      Effect.gen(function* () {
        const wait = yield* waitOf(reference, network)
        if (wait > 0) return yield* limited(wait)
        yield* limits.count(failures, `${reference} ${network}`)
        yield* limits.count(allFailures, network)
        const source = sourceOf(refusal)
        const { account } = refusal
        const resource = { resource_type: "service_account", resource_id: account?.id ?? null } as const
        if (strangers.admits(["auth.federate"], account && { id: account.id, source, resource })) {
          yield* audit.change(source, {
            action: "auth.federate",
            ...resource,
            metadata: { refused: true, ...refusal.metadata }
          })
        }
        return refusal.error
      })

    /** Starts a session, unless the federation or the account was removed meanwhile. */
    const start = (account: AccountRow, federation: FederationRow, { claims }: Verified, subject: string) =>
      Effect.gen(function* () {
        const wait = yield* limits.wait(exchanges, subject)
        if (wait > 0) return yield* limitedExchanges(wait)
        yield* limits.count(exchanges, subject)
        const millis = yield* Clock.currentTimeMillis
        const now = timestamp(millis)
        const end = timestamp(millis + federation.ttl * 1000)
        const expires_at = federation.expires_at !== null && federation.expires_at < end ? federation.expires_at : end
        const [used] = yield* repo.use({ id: federation.id, now })
        if (used === undefined) return null
        const token = yield* mintToken("federated")
        const id = yield* uuidV7
        const sub = subjectOf(claims)
        yield* repo.insertSession({
          id,
          federationId: federation.id,
          accountId: account.id,
          hash: hashToken(Redacted.value(token)),
          subject: sub,
          ip: (yield* RequestInfo).ip,
          now,
          expiresAt: expires_at
        })
        const { issuer, name } = federation
        yield* audit.change(sourceOf({ account, name: account.name }), {
          action: "auth.federate",
          resource_type: "session",
          resource_id: id,
          metadata: { federation: name, issuer, subject: sub, expires_at }
        })
        return { token, expires_at }
      })

    const refusalOf = (
      name: string,
      account: AccountRow | undefined,
      { claims, issuer }: Verified,
      { failed, shown }: Checked
    ): Refusal => ({
      name,
      account,
      error: refused(name, shown),
      metadata: { issuer, subject: subjectOf(claims), failed: recordOf(failed) }
    })

    /**
     * Exchanges a token for a session of the account `ORGANIZATION/ACCOUNT`. Fails with Unauthorized, for an account that is
     * not there in the same words and after the same work as for one whose federations are for others.
     */
    const federate = method("Exchange.federate", function* (token: Redacted.Redacted, reference: string) {
      const [org = "", name = ""] = reference.split("/")
      const { ip } = yield* RequestInfo
      const network = clientNetwork(ip)
      const subject = `${reference} ${network}`
      const [wait, full] = yield* transaction(
        Effect.zip(waitOf(reference, network), limits.wait(exchanges, subject))
      ).pipe(
        limits.limited(exchanges, subject, limitedExchanges),
        limits.limited(failures, `${reference} ${network}`, limited),
        limits.limited(allFailures, network, limited),
        Effect.tapError(() => Metric.increment(exchangeRefusals))
      )
      if (wait > 0) return yield* Effect.zipRight(Metric.increment(exchangeRefusals), limited(wait))
      if (full > 0) return yield* Effect.zipRight(Metric.increment(exchangeRefusals), limitedExchanges(full))

      const named = yield* repo.accountByName({ org, name })
      const isBarred = named !== undefined && isOutside(named.allowed_networks, ip)
      // Outside its networks, the caller is told what holds for an unknown account; the audit log has the account.
      const account = isBarred ? undefined : named
      const refuse = (refusal: Refusal) => {
        const recorded = isBarred
          ? { ...refusal, account: named, metadata: { ...refusal.metadata, failed: "networks" } }
          : refusal
        return Effect.zipRight(
          Metric.increment(exchangeFailures),
          limits.inTurn(network)(outcomeOf(transaction(record(recorded, reference, network))))
        )
      }
      const verified = yield* signatures.verify(Redacted.value(token), account?.id ?? "")
      if (verified === null) {
        return yield* refuse({ name: reference, account, error: unsigned, metadata: { failed: "signature" } })
      }
      const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const audience = publicUrl === null ? null : audienceOf(publicUrl, org, name)
      const checked = yield* explain(verified, audience, seconds)
      const session =
        account === undefined || checked.fitting === null
          ? null
          : yield* change([orgScope(account.org_id)], start(account, checked.fitting, verified, subject))
      return session ?? (yield* refuse(refusalOf(reference, account, verified, checked)))
    })

    return { federate } as const
  }),
  dependencies: [Signatures.Default, RateLimits.Default, UnknownLoginAudit.Default]
}) {}
