import { InvalidCode, LockedOut, RateLimited } from "@coffer/domain/Errors"
import type { Email } from "@coffer/domain/Names"
import { Clock, Effect, Metric, type Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { AuditLog, type AuditSource } from "../audit/AuditLog.js"
import { ServerConfig } from "../Config.js"
import { timestamp } from "../database/Time.js"
import { uuidV7 } from "../database/Uuid.js"
import { transaction } from "../database/Writer.js"
import { Keyring } from "../keys/Keyring.js"
import { macCode, mintCode, sameMac } from "../keys/LoginCode.js"
import { Mailer } from "../mail/Mailer.js"
import { CodeAges } from "./CodeAges.js"
import { AuthRepo } from "./Repo.js"
import { Sessions } from "./Sessions.js"
import { Users } from "./Users.js"

const minute = 60_000
const codeMillis = 10 * minute
const requestWindow = 15 * minute
const maxRequests = 5
const failureWindow = 60 * minute
const maxFailures = 10

/** Failed verifications, over all addresses: guessing shows here. */
export const loginFailures = Metric.counter("coffer_login_failures_total", { incremental: true })
export const lockouts = Metric.counter("coffer_login_lockouts_total", { incremental: true })

const invalidCode = new InvalidCode({
  message: "the code is wrong, used, expired or was never requested: ask for a new one"
})

interface Moment {
  readonly created_at: string
}

/** Whole seconds until the `count`-th newest of some moments, oldest first, is older than a window. */
const secondsLeft = (moments: ReadonlyArray<Moment>, count: number, window: number, millis: number): number => {
  const leaving = moments[moments.length - count]
  return leaving === undefined ? 1 : Math.max(1, Math.ceil((Date.parse(leaving.created_at) + window - millis) / 1000))
}

/** Login without a password: a code goes out by mail and comes back for a session token. */
export class Login extends Effect.Service<Login>()("@coffer/server/Login", {
  effect: Effect.gen(function* () {
    const config = yield* ServerConfig
    const keyring = yield* Keyring
    const repo = yield* AuthRepo
    const users = yield* Users
    const sessions = yield* Sessions
    const mailer = yield* Mailer
    const audit = yield* AuditLog
    const ages = yield* CodeAges

    const sourceOf = (email: Email, id: string | null): AuditSource => ({
      actor: { type: "user", id, name: email },
      orgId: null
    })

    const mayLogIn = (email: Email, known: boolean): boolean =>
      known || config.signup === "open" || config.signupDomains.some((domain) => email.endsWith(`@${domain}`))

    /**
     * Mails a new code, which replaces a pending one. Who may not log in gets the same answer after the same work: a
     * record that no code matches. Fails with RateLimited on the 6th request within 15 minutes.
     */
    const request = Effect.fn("Login.request")(function* (email: Email) {
      const millis = yield* Clock.currentTimeMillis
      const code = yield* mintCode
      const id = yield* uuidV7
      const allowed = yield* transaction(
        Effect.gen(function* () {
          const requests = yield* repo.requestsBetween(email, timestamp(millis - requestWindow), timestamp(millis))
          if (requests.length >= maxRequests) {
            const retryAfter = secondsLeft(requests, maxRequests, requestWindow, millis)
            return yield* new RateLimited({
              message: `too many login requests for this e-mail: try again in ${retryAfter} seconds`,
              retryAfter
            })
          }
          const user = yield* repo.findUser(email)
          const may = mayLogIn(email, user !== undefined)
          const mac = macCode(keyring, email, id, code)
          yield* repo.replaceCode({
            id,
            email,
            mac: may ? mac : randomBytes(mac.length),
            created_at: timestamp(millis),
            expires_at: timestamp(millis + codeMillis)
          })
          yield* audit.write(sourceOf(email, user?.id ?? null), {
            action: "auth.login",
            resource_type: "user",
            resource_id: user?.id ?? null
          })
          return may
        })
      )
      yield* ages.note(id, codeMillis)
      if (allowed) yield* mailer.sendLoginCode(email, code)
    })

    /**
     * Counts an attempt as failed and takes the pending code away, in a transaction of its own: whatever happens next, the
     * attempt is counted and the code is used once.
     */
    const attempt = (email: Email, millis: number) =>
      transaction(
        Effect.gen(function* () {
          const failures = yield* repo.failuresBetween(email, timestamp(millis - failureWindow), timestamp(millis))
          if (failures.length >= maxFailures) {
            const retryAfter = secondsLeft(failures, maxFailures, failureWindow, millis)
            return yield* new LockedOut({
              message: `too many failed verifications for this e-mail: try again in ${retryAfter} seconds`,
              retryAfter
            })
          }
          const id = yield* uuidV7
          yield* repo.insertFailure(id, email, timestamp(millis))
          const claimed = yield* repo.claimCode(email)
          return { id, claimed, failures: failures.length + 1 }
        })
      )

    /**
     * Exchanges a code for a session token. Fails with InvalidCode, without telling why, and with LockedOut after 10
     * failures within an hour, even with the right code.
     */
    const verify = Effect.fn("Login.verify")(function* (email: Email, code: Redacted.Redacted) {
      const millis = yield* Clock.currentTimeMillis
      const { claimed, failures, id } = yield* attempt(email, millis)
      const expected = claimed?.mac ?? randomBytes(32)
      const fresh =
        claimed !== undefined && (yield* ages.ageOf(claimed.id, Date.parse(claimed.created_at))) < codeMillis
      const right = sameMac(macCode(keyring, email, claimed?.id ?? id, code), expected) && fresh
      if (!right) {
        yield* Metric.increment(loginFailures)
        if (failures >= maxFailures) yield* Metric.increment(lockouts)
      }
      return yield* transaction(
        Effect.gen(function* () {
          if (!right) {
            const user = yield* repo.findUser(email)
            const about = { resource_type: "user", resource_id: user?.id ?? null } as const
            yield* audit.write(
              sourceOf(email, user?.id ?? null),
              { action: "auth.verify_failed", ...about },
              ...(failures >= maxFailures ? [{ action: "auth.lockout", ...about } as const] : [])
            )
            return null
          }
          yield* repo.deleteFailure(id)
          const user = yield* users.ensure(email)
          const session = yield* sessions.start(user.id)
          yield* audit.write(sourceOf(email, user.id), {
            action: "auth.verify",
            resource_type: "session",
            resource_id: session.id
          })
          return session.token
        })
      ).pipe(
        Effect.filterOrFail(
          (token) => token !== null,
          () => invalidCode
        )
      )
    })

    return { request, verify } as const
  }),
  dependencies: [AuthRepo.Default, CodeAges.Default, Users.Default, Sessions.Default]
}) {}
