import type { CodeChallenge } from "@coffer/domain/directory/ClientLogin"
import { AuthorizationPending, Forbidden, InvalidCode, SlowDown } from "@coffer/domain/errors/Errors"
import type { UserId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database, outcomeOf } from "../../database/Database.js"
import { userScope } from "../../database/Scopes.js"
import { timestamp } from "../../base/Time.js"
import { fitsChallenge } from "../../keys/ClientCodes.js"
import { hashToken } from "../../keys/Token.js"
import { method } from "../../base/tracing/Traced.js"
import { intervalSeconds, personSource } from "./ClientLogins.js"
import { clientLoginsRepo } from "./ClientLoginsRepo.js"
import { CodeExpiry } from "./CodeExpiry.js"
import { loginFailures } from "./Login.js"
import { Sessions } from "./Sessions.js"

const invalidCode = new InvalidCode({ message: "the code is wrong, used, expired or was never given: log in again" })
const refused = new Forbidden({ message: "this login was refused in the browser: log in again" })
const pending = new AuthorizationPending({
  message: `nobody has approved this login yet: ask again in ${intervalSeconds} seconds`
})
const slowDown = new SlowDown({
  message: `you ask too often: ask again in ${intervalSeconds} seconds`,
  retryAfter: intervalSeconds
})

/** Exchanges the logins of programs that a person has approved for session tokens. */
export class ClientTokens extends Effect.Service<ClientTokens>()("@coffer/server/ClientTokens", {
  effect: Effect.gen(function* () {
    const repo = yield* clientLoginsRepo
    const sessions = yield* Sessions
    const audit = yield* AuditLog
    const ages = yield* CodeExpiry
    const { change, clock, transaction } = yield* Database

    /** Uses an approved login and starts its session. Fails if its verifier is wrong, which uses up the login too. */
    const claim = Effect.fnUntraced(function* (
      id: string,
      method: "device" | "loopback",
      mayStart: (challenge: CodeChallenge | null) => boolean
    ) {
      const claimed = yield* repo.claim(id, timestamp(yield* clock))
      if (claimed === undefined) return invalidCode
      const { challenge, email, logins_ended: ended, machine, proven_at: provenAt, user_id } = claimed
      const source = personSource({ id: user_id, email })
      const metadata = { method, ...(machine !== null && { machine }) }
      const session = mayStart(challenge)
        ? yield* sessions.start({ id: user_id, ended, provenAt }, "token", machine)
        : null
      if (session === null) {
        yield* audit.change(source, {
          action: "auth.verify_failed",
          resource_type: "user",
          resource_id: user_id,
          metadata
        })
        return invalidCode
      }
      yield* audit.change(source, {
        action: "auth.verify",
        resource_type: "session",
        resource_id: session.id,
        metadata
      })
      return Effect.succeed(session.token)
    })

    /** Holds the person of the login, as the end of all logins does: that locks the person's row before the logins. */
    const redeem = (userId: UserId | null, ...login: Parameters<typeof claim>) =>
      outcomeOf(change(userId === null ? [] : [userScope(userId)], claim(...login))).pipe(
        Effect.tapErrorTag("InvalidCode", () => Metric.increment(loginFailures))
      )

    /** Exchanges a device code for a session token, once the login is approved. */
    const poll = method("ClientLogins.poll", function* (deviceCode: Redacted.Redacted) {
      const login = yield* repo.bySecret({ hash: hashToken(Redacted.value(deviceCode)) })
      if (login?.kind !== "device" || (yield* ages.isExpired(login, yield* clock))) return yield* invalidCode
      const { id, state, user_id } = login
      switch (state) {
        case "used":
          return yield* invalidCode
        case "refused":
          return yield* refused
        case "approved":
          return yield* redeem(user_id, id, "device", () => true)
        case "pending": {
          const millis = yield* clock
          const before = timestamp(millis - intervalSeconds * 1000)
          const polled = yield* transaction(repo.poll({ id, now: timestamp(millis), before }))
          return yield* polled.length > 0 ? pending : slowDown
        }
      }
    })

    /** Exchanges the code of a loopback redirect for a session token. */
    const exchange = method("ClientLogins.exchange", function* (code: Redacted.Redacted, verifier: Redacted.Redacted) {
      const login = yield* repo.bySecret({ hash: hashToken(Redacted.value(code)) })
      if (login?.kind !== "loopback" || (yield* ages.isExpired(login, yield* clock))) return yield* invalidCode
      const fits = (challenge: CodeChallenge | null) => challenge !== null && fitsChallenge(verifier, challenge)
      return yield* redeem(login.user_id, login.id, "loopback", fits)
    })

    return { poll, exchange } as const
  }),
  dependencies: [CodeExpiry.Default, Sessions.Default]
}) {}
