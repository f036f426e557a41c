import { randomUUID } from "node:crypto"
import { defined } from "@coffer/domain/base/Defined"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { Background } from "./Background.js"
import { unexpectedResponse } from "./internal/ClientErrors.js"
import type { ApiRequest, Exchange, ExchangeFailure } from "./internal/Exchange.js"
import { parseJson } from "./internal/ParseJson.js"
import { textOf } from "./internal/Send.js"

/** A user of a database that was made for this program. */
export interface Credential {
  /** The id of the lease. */
  readonly id: string
  readonly username: string
  readonly password: Redacted.Redacted
  /** The address of the database with user and password. */
  readonly url: Redacted.Redacted
}

export interface LeaseOptions {
  /** How long each lease lasts without a renewal, such as `30m`. By default, what the role says. */
  readonly ttl?: string
  /** How long a replaced credential stays valid, for what still uses it. By default, a minute. */
  readonly overlap?: Duration.DurationInput
}

/** A credential that is renewed, and replaced before it ends. */
export interface Leased {
  /** The credential of now. */
  readonly credential: Effect.Effect<Credential>
  /** The credential of now, then each that replaces it. */
  readonly changes: Stream.Stream<Credential>
}

/** A credential could not be leased. `code` is the server's, such as `FORBIDDEN`, or the name of the client's failure. */
export class LeaseFailed extends Data.TaggedError("LeaseFailed")<{
  readonly code: string
  readonly message: string
  readonly retryAfter?: number
}> {}

export const toLeaseFailed = (failure: ExchangeFailure): LeaseFailed =>
  failure._tag === "Refused"
    ? new LeaseFailed({ code: failure.code, message: failure.message, ...defined({ retryAfter: failure.retryAfter }) })
    : new LeaseFailed({ code: failure._tag, message: failure.message })

interface Times {
  readonly expires_in: number
  readonly renewable_for: number
}

const hasTimes = (found: unknown): found is Times =>
  Predicate.hasProperty(found, "expires_in") &&
  Predicate.isNumber(found.expires_in) &&
  Predicate.hasProperty(found, "renewable_for") &&
  Predicate.isNumber(found.renewable_for)

const texts = ["id", "username", "password", "url"] as const

const hasTexts = (found: unknown): found is Readonly<Record<(typeof texts)[number], string>> =>
  texts.every((name) => Predicate.hasProperty(found, name) && Predicate.isString(found[name]))

/** How soon a failed renewal or replacement is tried again, in milliseconds. */
const [soonest, rarest] = [1_000, 60_000]

/** A lease is replaced in the last tenth of the time in which it can be renewed, at most five minutes before its end. */
const replaceAfter = ({ renewable_for }: Times): number =>
  renewable_for * 1_000 - Math.min(renewable_for * 100, 300_000)

/** The calls of leases in one environment. */
const callsOf = ({ send, url }: Exchange, place: string, role: string, ttl: string | undefined) => {
  const [org = "", project = "", env = ""] = place.split("/").map(encodeURIComponent)
  const at = `${url}/api/orgs/${org}/projects/${project}/envs/${env}`
  const body = new TextEncoder().encode(JSON.stringify(defined({ ttl })))
  const asked = <A>(request: ApiRequest, is: (found: unknown) => found is A) =>
    Effect.flatMap(send(request), (response) =>
      Option.match(Option.filter(parseJson(textOf(response)), is), {
        onNone: () => Effect.fail(unexpectedResponse(url, response)),
        onSome: Effect.succeed
      })
    )
  const json = { "content-type": "application/json" }
  return {
    /** A repeated request returns the same lease: a lost response leaves no second one. */
    make: Effect.suspend(() =>
      asked(
        {
          url: new URL(`${at}/roles/${encodeURIComponent(role)}/leases`),
          method: "POST",
          headers: { ...json, "idempotency-key": randomUUID() },
          body,
          isRepeatable: true
        },
        (found): found is Times & Readonly<Record<(typeof texts)[number], string>> => hasTimes(found) && hasTexts(found)
      )
    ),
    renew: (id: string) =>
      asked(
        { url: new URL(`${at}/leases/${id}/renew`), method: "POST", headers: json, body, isRepeatable: true },
        hasTimes
      ),
    end: (id: string) => send({ url: new URL(`${at}/leases/${id}`), method: "DELETE", isRepeatable: true })
  }
}

const isGone = (failure: ExchangeFailure): boolean =>
  failure._tag === "Refused" && (failure.code === "NOT_FOUND" || failure.code === "CONFLICT")

/** Leases a user of a database by a role, renews it, and replaces it before its end. It ends with the scope. */
export const leaseBy = (
  exchange: Exchange,
  place: string,
  role: string,
  { overlap = "1 minute", ttl }: LeaseOptions = {}
): Effect.Effect<Leased, ExchangeFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const calls = callsOf(exchange, place, role, ttl)
    const held = new Set<string>()
    const end = (id: string) =>
      calls.end(id).pipe(
        Effect.catchIf(isGone, () => Effect.void),
        Effect.timeout("10 seconds"),
        Effect.catchAll(() => Effect.logWarning(`the lease ${id} of ${role} is not ended: it ends by itself`)),
        Effect.zipRight(Effect.sync(() => held.delete(id)))
      )
    yield* Effect.addFinalizer(() => Effect.forEach([...held], end, { concurrency: 8, discard: true }))

    const take = calls.make.pipe(
      Effect.map(({ id, password, url, username, ...times }) => {
        held.add(id)
        const credential: Credential = { id, username, password: Redacted.make(password), url: Redacted.make(url) }
        return { credential, times }
      }),
      Effect.uninterruptible
    )

    /** Renews a lease until it is to be replaced, or has ended. */
    const keep = (id: string, first: Times) =>
      Effect.gen(function* () {
        const until = (yield* Clock.currentTimeMillis) + replaceAfter(first)
        let times = first
        let ends = (yield* Clock.currentTimeMillis) + first.expires_in * 1_000
        for (let failures = 0; ;) {
          const now = yield* Clock.currentTimeMillis
          const wait = failures === 0 ? (times.expires_in * 2_000) / 3 : soonest * 5
          yield* Effect.sleep(Math.max(0, Math.min(wait, until - now)))
          const then = yield* Clock.currentTimeMillis
          if (then >= until || then >= ends) return
          const renewed = yield* Effect.either(calls.renew(id))
          if (renewed._tag === "Right") {
            times = renewed.right
            ends = (yield* Clock.currentTimeMillis) + times.expires_in * 1_000
            failures = 0
          } else if (isGone(renewed.left)) {
            return
          } else {
            failures++
            if (failures === 1) yield* Effect.logWarning(`the lease of ${role} is not renewed: ${renewed.left.message}`)
          }
        }
      })

    /** Leases another user, however often that fails. */
    const next = Effect.gen(function* () {
      for (let wait = soonest; ; wait = Math.min(wait * 2, rarest)) {
        const made = yield* Effect.either(take)
        if (made._tag === "Right") return made.right
        yield* Effect.logWarning(`the lease of ${role} is not replaced: ${made.left.message}`)
        yield* Effect.sleep(wait * (yield* Random.nextRange(0.8, 1.2)))
      }
    })

    let current = yield* take
    const published = yield* SubscriptionRef.make(current.credential)
    const scope = yield* Effect.scope
    const background = yield* Background
    const replacing = Effect.gen(function* () {
      for (;;) {
        const old = current
        yield* keep(old.credential.id, old.times)
        current = yield* next
        yield* SubscriptionRef.set(published, current.credential)
        yield* Effect.forkIn(Effect.delay(end(old.credential.id), overlap), scope)
      }
    })
    yield* Effect.forkScoped(background(replacing))
    return { credential: SubscriptionRef.get(published), changes: published.changes }
  })
