import { type Actor, Authentication } from "@coffer/domain/Actor"
import { Unauthorized } from "@coffer/domain/Errors"
import { type Headers, HttpServerRequest } from "@effect/platform"
import { Effect, Either, Layer, Queue } from "effect"
import { timestamp } from "../database/Time.js"
import { hashToken, isWellFormed } from "../keys/Token.js"
import { sessionMillis } from "./Sessions.js"
import { AuthRepo } from "./Repo.js"

const refusal = new Unauthorized({
  message: "no credential, or one that is unknown, expired or revoked: log in, or send a service account's key"
})

const touchEveryMillis = 60_000

/**
 * Who holds a credential, read from the database for each request. An API key is taken before a session token, as the
 * clients do; a credential that is not well formed is refused before any lookup; every refusal is the same.
 */
export class Authenticator extends Effect.Service<Authenticator>()("@coffer/server/Authenticator", {
  scoped: Effect.gen(function* () {
    const repo = yield* AuthRepo
    const clock = yield* Effect.clock
    const touches = yield* Queue.dropping<Effect.Effect<unknown, unknown>>(1_000)
    yield* Queue.take(touches).pipe(
      Effect.flatMap((touch) => Effect.catchAllCause(touch, (cause) => Effect.logWarning("last use not noted", cause))),
      Effect.forever,
      Effect.forkScoped
    )

    const isStale = (lastUsedAt: string | null, millis: number): boolean =>
      lastUsedAt === null || lastUsedAt < timestamp(millis - touchEveryMillis)

    const bySession = (token: string, millis: number): Actor | null => {
      if (!isWellFormed("session", token)) return null
      const row = repo.findSession(hashToken(token), timestamp(millis - sessionMillis))
      if (row === undefined) return null
      if (isStale(row.last_used_at, millis)) {
        touches.unsafeOffer(repo.touchSession(row.session_id, row.user_id, timestamp(millis)))
      }
      return {
        type: "user",
        id: row.user_id,
        email: row.email,
        name: row.name,
        superadmin: row.superadmin === 1,
        sessionId: row.session_id
      }
    }

    const byKey = (key: string, millis: number): Actor | null => {
      if (!isWellFormed("apiKey", key)) return null
      const row = repo.findKey(hashToken(key), timestamp(millis))
      if (row === undefined) return null
      if (isStale(row.last_used_at, millis)) {
        touches.unsafeOffer(repo.touchAccount(row.account_id, timestamp(millis)))
      }
      return {
        type: "service_account",
        id: row.account_id,
        name: row.name,
        orgId: row.org_id,
        orgName: row.org_name,
        project:
          row.project_id === null || row.project_name === null ? null : { id: row.project_id, name: row.project_name },
        reveal: row.reveal === 1
      }
    }

    /** At once: it is asked for on each request. */
    const identify = (headers: Headers.Headers): Either.Either<Actor, Unauthorized> => {
      const millis = clock.unsafeCurrentTimeMillis()
      const key = headers["x-api-key"]
      const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1]
      const actor = key !== undefined ? byKey(key, millis) : bearer !== undefined ? bySession(bearer, millis) : null
      return actor === null ? Either.left(refusal) : Either.right(actor)
    }

    return { identify } as const
  }),
  dependencies: [AuthRepo.Default]
}) {}

/**
 * The contract's authentication. The toolkit tries one scheme after the other and returns the failure of the last; an API key
 * must outweigh a session, so the first scheme looks at both headers, with one lookup.
 */
export const AuthenticationLive = Layer.effect(
  Authentication,
  Effect.map(Authenticator, ({ identify }) => {
    const authenticate = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => identify(headers))
    return Authentication.of({ session: () => authenticate, apiKey: () => refusal })
  })
).pipe(Layer.provide(Authenticator.Default))
