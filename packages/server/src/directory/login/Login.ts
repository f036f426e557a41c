import type { MachineName } from "@coffer/domain/directory/ClientLogin"
import { Forbidden, InvalidCode, LockedOut, RateLimited } from "@coffer/domain/errors/Errors"
import type { Email } from "@coffer/domain/base/Names"
import type { SessionKind } from "@coffer/domain/directory/Session"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Redacted from "effect/Redacted"
import { counter } from "../../base/Metrics.js"
import { randomBytes } from "node:crypto"
import { AuditLog } from "../../audit/AuditLog.js"
import type { AuditSource } from "../../audit/AuditEvent.js"
import { ServerConfig } from "../../base/Config.js"
import { Database, outcomeOf } from "../../database/Database.js"
import { addressScope } from "../../database/Scopes.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import { Keyring } from "../../keys/Keyring.js"
import { macCode, mintCode, sameMac } from "../../keys/LoginCode.js"
import { clientNetwork } from "../../database/limits/ClientNetwork.js"
import { type RateLimit, RateLimits, secondsLeft } from "../../database/limits/RateLimits.js"
import { Mailer } from "../../base/mail/Mailer.js"
import { CodeExpiry } from "./CodeExpiry.js"
import type { Complete } from "./CompletedLogin.js"
import { authRepo } from "../../access/caller/credentials/Repo.js"
import { Sessions } from "./Sessions.js"
import { mayLogIn } from "./Signup.js"
import { UnknownLoginAudit } from "./UnknownLoginAudit.js"
import { Users } from "./Users.js"
import { method, traced } from "../../base/tracing/Traced.js"

const minute = 60_000
const codeMillis = 10 * minute
const requests = { max: 5, window: 15 * minute }
const requestsOfClient: RateLimit = { kind: "login", max: 30, window: 15 * minute }
const failures = { max: 10, window: 60 * minute }

/** Failed verifications for all addresses. An increase shows that someone guesses codes. */
export const loginFailures = counter(
  "coffer_login_failures_total",
  "Verifications with a code that was wrong, used, expired or never requested, for all addresses"
)
export const lockouts = counter("coffer_login_lockouts_total", "Addresses that failed ten times within an hour")
/** Code requests over a limit, and verifications while locked out. Neither is logged nor audited. */
export const loginRefusals = counter(
  "coffer_login_refusals_total",
  "Code requests over a rate limit, and verifications for locked-out addresses"
)

const invalidCode = new InvalidCode({
  message: "the code is wrong, used, expired or was never requested: ask for a new one"
})

const limited = (whose: string, retryAfter: number) =>
  new RateLimited({ message: `too many login requests ${whose}: try again in ${retryAfter} seconds`, retryAfter })

/** Login without a password: the server mails a code, which proves that the person reads the mailbox. */
export class Login extends Effect.Service<Login>()("@coffer/server/Login", {
  effect: Effect.gen(function* () {
    const config = yield* ServerConfig
    const keyring = yield* Keyring
    const repo = yield* authRepo
    const users = yield* Users
    const sessions = yield* Sessions
    const mailer = yield* Mailer
    const audit = yield* AuditLog
    const { change, clock } = yield* Database
    const ages = yield* CodeExpiry
    const limits = yield* RateLimits
    const strangers = yield* UnknownLoginAudit

    const loginSource = (email: Email, id: string | null): AuditSource => ({
      actor: { type: "user", id, name: email },
      orgId: null
    })

    const codesAreOn = config.emailLogin
      ? Effect.void
      : new Forbidden({
          message: `login codes are switched off on this server: log in at ${config.publicUrl ?? ""}/login`
        })

    /**
     * Mails a new code, which replaces a pending one. For an address that may not log in, the same work is done with a MAC
     * that no code matches, so that timing does not reveal it. Fails with RateLimited on the 6th request for an e-mail within
     * 15 minutes, and on the 31st from a client's network.
     */
    const request = method("Login.request", function* (email: Email) {
      yield* codesAreOn
      const network = clientNetwork((yield* RequestInfo).ip)
      const code = yield* mintCode
      const id = yield* uuidV7
      const allowed = yield* change(
        [addressScope(email)],
        Effect.gen(function* () {
          const wait = yield* limits.wait(requestsOfClient, network)
          if (wait > 0) return yield* limited("from this address", wait)
          const millis = yield* clock
          const earlier = yield* repo.requestsBetween({
            email,
            since: timestamp(millis - requests.window),
            now: timestamp(millis)
          })
          if (earlier.length >= requests.max) {
            return yield* limited("for this e-mail", secondsLeft(earlier, requests, millis))
          }
          yield* limits.count(requestsOfClient, network)
          const user = yield* repo.findUser({ email })
          const may = mayLogIn(config, email, user)
          const mac = macCode(keyring, email, id, code)
          yield* repo.replaceCode({
            id,
            email,
            mac: may ? mac : randomBytes(mac.length),
            now: timestamp(millis),
            expiresAt: timestamp(millis + codeMillis)
          })
          if (user !== undefined || strangers.admits(["auth.login"])) {
            yield* audit.change(loginSource(email, user?.id ?? null), {
              action: "auth.login",
              resource_type: "user",
              resource_id: user?.id ?? null
            })
          }
          return may
        })
      ).pipe(
        limits.limited(requestsOfClient, network, (wait) => limited("from this address", wait)),
        Effect.tapErrorTag("RateLimited", () => Metric.increment(loginRefusals))
      )
      yield* ages.note(id, codeMillis)
      if (allowed) yield* mailer.sendLoginCode(email, code)
    })

    /**
     * Counts the attempt as a failure and claims the pending code, in a separate transaction: a later failure must not
     * uncount the attempt or allow a second use of the code. The attempts of an address run one after another, so that each
     * counts the ones before it.
     */
    const attempt = (email: Email) =>
      change(
        [addressScope(email)],
        Effect.gen(function* () {
          const millis = yield* clock
          const earlier = yield* repo.failuresBetween({
            email,
            since: timestamp(millis - failures.window),
            now: timestamp(millis)
          })
          if (earlier.length >= failures.max) {
            const retryAfter = secondsLeft(earlier, failures, millis)
            return yield* new LockedOut({
              message: `too many failed verifications for this e-mail: try again in ${retryAfter} seconds`,
              retryAfter
            })
          }
          const id = yield* uuidV7
          yield* repo.insertFailure({ id, email, now: timestamp(millis) })
          // Before the code is claimed, which the end of all logins does too.
          const ended = (yield* repo.findUser({ email }))?.logins_ended ?? 0
          const claimed = yield* repo.claimCode(email)
          return { id, claimed, ended, millis, locks: earlier.length + 1 >= failures.max }
        })
      ).pipe(Effect.tapErrorTag("LockedOut", () => Metric.increment(loginRefusals)))

    /**
     * Completes a login with a code. Fails with InvalidCode, without the reason. Fails with LockedOut after 10 failures within
     * an hour, even for the right code.
     */
    const exchange = Effect.fnUntraced(function* <A, E, R>(
      email: Email,
      code: Redacted.Redacted,
      complete: Complete<A, E, R>
    ) {
      yield* codesAreOn
      const { claimed, ended, id, locks, millis } = yield* attempt(email)
      const expected = claimed?.mac ?? randomBytes(32)
      const fresh =
        claimed !== undefined && (yield* ages.ageOf(claimed.id, Date.parse(claimed.created_at), millis)) < codeMillis
      const right = sameMac(macCode(keyring, email, claimed?.id ?? id, code), expected) && fresh
      if (!right) {
        yield* Metric.increment(loginFailures)
        if (locks) yield* Metric.increment(lockouts)
      }
      return yield* change(
        [addressScope(email)],
        Effect.gen(function* () {
          const user = yield* repo.findUser({ email })
          if (!right || !mayLogIn(config, email, user)) {
            const actions = ["auth.verify_failed", ...(locks ? ["auth.lockout" as const] : [])] as const
            if (user !== undefined || strangers.admits(actions)) {
              const about = { resource_type: "user", resource_id: user?.id ?? null } as const
              yield* audit.change(
                loginSource(email, user?.id ?? null),
                ...actions.map((action) => ({ action, ...about }) as const)
              )
            }
            return invalidCode
          }
          yield* repo.deleteFailure({ id })
          const { id: userId } = yield* users.ensure(email)
          const completedLogin = yield* complete({ id: userId, email, ended, provenAt: timestamp(millis) })
          yield* audit.change(loginSource(email, userId), {
            action: "auth.verify",
            ...completedLogin.resource,
            metadata: { method: "code" }
          })
          return Effect.succeed(completedLogin.result)
        })
      ).pipe(outcomeOf)
    })

    /** Exchanges a code for a session's token. Fails as `exchange` does. */
    const verify = traced("Login.verify")(
      (email: Email, code: Redacted.Redacted, kind: SessionKind = "token", machine?: MachineName) =>
        exchange(email, code, (person) => sessions.complete(person, kind, machine))
    )

    return { request, exchange, verify } as const
  }),
  dependencies: [CodeExpiry.Default, RateLimits.Default, Sessions.Default, UnknownLoginAudit.Default, Users.Default]
}) {}
