import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { ServerConfig } from "../../base/Config.js"
import { type OutboundResponse, Outbound } from "../../base/outbound/Outbound.js"
import { type KeySet, parseKeySet } from "./Jwks.js"

/** Issuers that every server knows: GitHub Actions on github.com, and GitLab on gitlab.com. */
const knownIssuers = ["https://token.actions.githubusercontent.com", "https://gitlab.com"]

const minute = 60_000
/** Keys of this age are fetched again, so that a key that the issuer revoked is not used for longer. */
const freshMillis = 10 * minute
/** The least time between two fetches, also of keys that a token names and the set does not have. */
const retryMillis = minute
export const retrySeconds = retryMillis / 1000
/** How long keys are used while the issuer cannot be reached. */
const staleMillis = 24 * 60 * minute

const timeout = "10 seconds"
const maxBytes = 256 * 1024

/** The keys of an issuer cannot be fetched, and there are none of the last day. */
export class KeysUnavailable extends Data.TaggedError("KeysUnavailable")<{ readonly issuer: string }> {}

class FetchFailed extends Data.TaggedError("FetchFailed")<{ readonly reason: string }> {}

const Discovery = Schema.parseJson(Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String }))

const textOf = (what: string) => (answer: OutboundResponse) => {
  if (answer.status !== 200) return new FetchFailed({ reason: `the ${what} was answered with status ${answer.status}` })
  if (answer.truncated) return new FetchFailed({ reason: `the ${what} is larger than ${maxBytes} bytes` })
  return Effect.succeed(Buffer.from(answer.body).toString("utf8"))
}

interface Entry {
  readonly lock: Effect.Semaphore
  keys: KeySet | null
  fetchedAt: number
  attemptedAt: number
}

/**
 * The public keys of the issuers whose tokens federations may take, fetched by OpenID Connect Discovery and kept in memory.
 * A stranger's token can cause at most one fetch a minute.
 */
export class IssuerKeys extends Effect.Service<IssuerKeys>()("@coffer/server/IssuerKeys", {
  scoped: Effect.gen(function* () {
    const { machineIssuers } = yield* ServerConfig
    const scope = yield* Effect.scope
    const outbound = yield* Outbound
    const entries = new Map<string, Entry>(
      [...knownIssuers, ...machineIssuers].map((issuer) => [
        issuer,
        { lock: Effect.unsafeMakeSemaphore(1), keys: null, fetchedAt: 0, attemptedAt: Number.NEGATIVE_INFINITY }
      ])
    )

    const get = (what: string, url: string) =>
      outbound.request({ url, headers: { accept: "application/json" }, timeout, maxBytes }).pipe(
        Effect.mapError(({ message }) => new FetchFailed({ reason: `the ${what}: ${message}` })),
        Effect.flatMap(textOf(what))
      )

    const fetchKeys = (issuer: string) =>
      Effect.gen(function* () {
        const document = yield* get(
          "discovery document",
          `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
        )
        const { issuer: named, jwks_uri } = yield* Effect.mapError(
          Schema.decodeUnknown(Discovery)(document),
          () => new FetchFailed({ reason: "the discovery document has no issuer or no jwks_uri" })
        )
        if (named !== issuer) return yield* new FetchFailed({ reason: "the discovery document is another issuer's" })
        return yield* Either.match(parseKeySet(yield* get("key set", jwks_uri)), {
          onLeft: () => new FetchFailed({ reason: "the key set is not a JWK Set" }),
          onRight: (keys) => Effect.succeed(keys)
        })
      })

    /** Monotonic, so that setting the clock back keeps no key for longer. */
    const millis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))

    const usable = ({ fetchedAt, keys }: Entry, now: number, kid: string | undefined): KeySet | null =>
      keys !== null && keys.has(kid) && now - fetchedAt < freshMillis ? keys : null

    const refresh = (issuer: string, entry: Entry, kid: string | undefined) =>
      Effect.gen(function* () {
        const now = yield* millis
        // Another request may have fetched them while this one waited.
        if (usable(entry, now, kid) === null && now - entry.attemptedAt >= retryMillis) {
          entry.attemptedAt = now
          yield* Effect.match(fetchKeys(issuer), {
            onFailure: ({ reason }) => reason,
            onSuccess: (keys) => {
              Object.assign(entry, { keys, fetchedAt: now })
              return null
            }
          }).pipe(
            Effect.flatMap((reason) =>
              reason === null ? Effect.void : Effect.logWarning(`the keys of ${issuer} could not be fetched: ${reason}`)
            )
          )
        }
        if (entry.keys === null || now - entry.fetchedAt >= staleMillis) return yield* new KeysUnavailable({ issuer })
        return entry.keys
      })

    return {
      isKnown: (issuer: string): boolean => entries.has(issuer),

      /** Returns the keys of an issuer, fetched again if they are old or do not have `kid`; null for an unknown issuer. */
      find: (issuer: string, kid: string | undefined): Effect.Effect<KeySet | null, KeysUnavailable> =>
        Effect.flatMap(millis, (now) => {
          const entry = entries.get(issuer)
          if (entry === undefined) return Effect.succeed(null)
          const keys = usable(entry, now, kid)
          if (keys !== null) return Effect.succeed(keys)
          // A client that goes away must not end the fetch: others could not fetch for a minute.
          const refreshing = Effect.forkIn(entry.lock.withPermits(1)(refresh(issuer, entry, kid)), scope)
          return Effect.flatMap(refreshing, Fiber.join)
        })
    } as const
  }),
  dependencies: [Outbound.Default]
}) {}
