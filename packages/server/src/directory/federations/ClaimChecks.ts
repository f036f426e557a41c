import { type Claims, claimAt, failedConditions, identifying } from "@coffer/domain/directory/Claims"
import type { Conditions, FederationTrial } from "@coffer/domain/directory/Federation"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { conditionsOf, type FederationRow } from "./Repo.js"
import type { Verified } from "./Signatures.js"

/** How far the clocks of an issuer and of the server may differ, in seconds. */
const skew = 60

/** A claim that did not fit. The caller is shown `found` alone; the audit log has both. */
export interface Mismatch {
  readonly claim: string
  readonly found: unknown
  readonly expected: string
}

const isTime = (value: unknown): value is number => Predicate.isNumber(value) && Number.isFinite(value)

/** Returns what is wrong with the claims that every token needs. `now` is in seconds. */
const failedBasics = (claims: Claims, audience: string | null, now: number): ReadonlyArray<Mismatch> => {
  const { aud, exp, iat, nbf } = claims
  const only: unknown = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud
  const tests: ReadonlyArray<readonly [isFitting: boolean, mismatch: Mismatch]> = [
    [audience === null || only === audience, { claim: "aud", found: aud, expected: audience ?? "" }],
    [isTime(exp) && now < exp + skew, { claim: "exp", found: exp, expected: `after ${now}` }],
    [nbf === undefined || (isTime(nbf) && nbf <= now + skew), { claim: "nbf", found: nbf, expected: `until ${now}` }],
    [isTime(iat) && iat <= now + skew, { claim: "iat", found: iat, expected: `until ${now}` }]
  ]
  return tests.filter(([isFitting]) => !isFitting).map(([, mismatch]) => mismatch)
}

const failedAge = ({ iat }: Claims, maxAge: number, now: number): ReadonlyArray<Mismatch> =>
  !isTime(iat) || now - iat <= maxAge
    ? []
    : [{ claim: "iat", found: iat, expected: `at most ${maxAge} seconds before ${now}` }]

/** Checks the claims of a token against a federation. */
const check = (claims: Claims, federation: FederationRow, conditions: Conditions, now: number) => {
  const failed = failedConditions(claims, conditions)
  return {
    federation,
    /** Whether the token is of the repository, project or workload that the federation is for. */
    isOurs: !failed.some(({ pointer }) => identifying.includes(pointer)),
    failed: [
      ...failedBasics(claims, federation.audience, now),
      ...failedAge(claims, federation.max_age, now),
      ...failed.map(({ expected, found, pointer }) => ({ claim: pointer, found, expected }))
    ]
  }
}

/** A federation with the claims that it refuses in a token: none, if it takes the token. */
export interface Outcome {
  readonly federation: FederationRow
  readonly failed: ReadonlyArray<Mismatch>
}

/** Checks the claims of a token against the federations that take its signature. */
export const outcomesOf = (
  { claims, federations }: Verified,
  now: number
): Effect.Effect<ReadonlyArray<Outcome & { readonly isOurs: boolean }>> =>
  Effect.forEach(federations, (federation) =>
    Effect.map(conditionsOf(federation), (conditions) => check(claims, federation, conditions, now))
  )

/** Which repository, project or workload a token is of. */
const identityOf = (claims: Claims): ReadonlyArray<Mismatch> =>
  identifying
    .map((claim) => ({ claim, found: claimAt(claims, claim), expected: "" }))
    .filter(({ found }) => found !== undefined)

export interface Checked {
  /** The federation that takes the token. */
  readonly fitting: FederationRow | null
  /** The mismatches that the caller may know. */
  readonly shown: ReadonlyArray<Mismatch>
  /** The mismatches for the audit log. */
  readonly failed: ReadonlyArray<Mismatch>
}

/**
 * Finds the federation that takes a token. A caller whose token is of another repository, project or workload is shown the
 * same as if there were no federation, and not which claims the federations look at.
 */
export const explain = (verified: Verified, audience: string | null, now: number): Effect.Effect<Checked> =>
  Effect.map(outcomesOf(verified, now), (outcomes) => {
    const { claims } = verified
    const unknown = [...failedBasics(claims, audience, now), ...identityOf(claims)]
    const ours = outcomes.filter(({ isOurs }) => isOurs).flatMap(({ failed }) => failed)
    return {
      fitting: outcomes.find(({ failed }) => failed.length === 0)?.federation ?? null,
      shown: Array.dedupeWith(ours.length > 0 ? ours : unknown, (one, other) => one.claim === other.claim),
      failed: outcomes.length > 0 ? outcomes.flatMap(({ failed }) => failed) : unknown
    }
  })

const maxShown = 200
/** How many claims an audit entry has. */
const maxRecorded = 20

const shown = (value: unknown): string => (value === undefined ? "absent" : JSON.stringify(value).slice(0, maxShown))

/** Says which claims did not fit, by the token's own values. */
export const sentenceOf = (failed: ReadonlyArray<Mismatch>): string =>
  failed.length === 0
    ? "its claims do not fit"
    : failed.map(({ claim, found }) => `${claim} is ${shown(found)}`).join(", ")

/** For the audit log: each claim with its own value and the expected one. */
export const recordOf = (failed: ReadonlyArray<Mismatch>): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  failed.slice(0, maxRecorded).map(({ claim, expected, found }) => ({ claim, found: shown(found), expected }))

/** The same for the contract: only managers of federations see it. */
export const trialOf = (failed: ReadonlyArray<Mismatch>): FederationTrial["federations"][number]["failed"] =>
  failed
    .slice(0, maxRecorded)
    .map(({ claim, expected, found }) => ({ claim, expected, found: found === undefined ? null : shown(found) }))
