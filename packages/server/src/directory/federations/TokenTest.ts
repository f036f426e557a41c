import { RateLimited } from "@coffer/domain/errors/Errors"
import type { FederationTrial } from "@coffer/domain/directory/Federation"
import type { ServiceAccountId } from "@coffer/domain/base/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Place } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { method } from "../../base/tracing/Traced.js"
import { Database } from "../../database/Database.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { type Mismatch, outcomesOf, trialOf } from "./ClaimChecks.js"
import { unverified } from "./Jwks.js"
import { type FederationRow, federationsRepo } from "./Repo.js"
import { Signatures } from "./Signatures.js"

/** Each verifies a signature, and may fetch the keys of an issuer. */
const trials: RateLimit = { kind: "federate_try", max: 30, window: 15 * 60_000 }

const limited = (retryAfter: number) =>
  new RateLimited({ message: `you tried too many tokens: try again in ${retryAfter} seconds`, retryAfter })

/** Why a federation cannot take the token: it is for another issuer, has expired, or has keys of its own. */
const unmatched = (row: FederationRow, issuer: string | null): Mismatch =>
  issuer === row.issuer
    ? { claim: "signature", found: undefined, expected: "by a key of this federation, before its end" }
    : { claim: "iss", found: issuer ?? undefined, expected: row.issuer }

/** Tries tokens against the federations of an account, without a session. Nothing of a token is stored or logged. */
export class TokenTest extends Effect.Service<TokenTest>()("@coffer/server/TokenTest", {
  effect: Effect.gen(function* () {
    const repo = yield* federationsRepo
    const signatures = yield* Signatures
    const limits = yield* RateLimits
    const { transaction } = yield* Database

    /** Counts a trial of a person. Fails if there were too many. */
    const admit = (person: string) =>
      transaction(
        Effect.flatMap(limits.wait(trials, person), (wait) => (wait > 0 ? limited(wait) : limits.count(trials, person)))
      ).pipe(limits.limited(trials, person, limited))

    const attempt = method(
      "TokenTest.attempt",
      function* (place: Place<"federation.create">, accountId: ServiceAccountId, token: Redacted.Redacted) {
        const account = yield* repo.findAccount({ orgId: place.org.id, id: accountId })
        if (account === undefined) return yield* notFound(`service account ${accountId}`)
        yield* admit(place.actor.id)
        const rows = yield* repo.all({ accountId })
        const verified = yield* signatures.verify(Redacted.value(token), accountId)
        const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const outcomes = verified === null ? [] : yield* outcomesOf(verified, seconds)
        const issuer = verified?.issuer ?? unverified(Redacted.value(token))?.issuer ?? null
        const trial: FederationTrial = {
          takes: outcomes.find(({ failed }) => failed.length === 0)?.federation.name ?? null,
          signed: verified !== null,
          issuer,
          federations: rows.map((row) => ({
            name: row.name,
            failed: trialOf(
              outcomes.find(({ federation }) => federation.id === row.id)?.failed ?? [unmatched(row, issuer)]
            )
          }))
        }
        return trial
      }
    )

    return { attempt } as const
  }),
  dependencies: [Signatures.Default, RateLimits.Default]
}) {}
