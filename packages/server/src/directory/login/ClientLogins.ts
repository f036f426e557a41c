import {
  type CodeChallenge,
  type LoopbackUri,
  type MachineName,
  showUserCode,
  type UserCode
} from "@coffer/domain/directory/ClientLogin"
import { Forbidden, RateLimited } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import type { AuditSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { authRepo } from "../../access/caller/credentials/Repo.js"
import { Database } from "../../database/Database.js"
import { userScope } from "../../database/Scopes.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { macUserCode, mintClientSecret, mintUserCode } from "../../keys/ClientCodes.js"
import { Keyring } from "../../keys/Keyring.js"
import { sameMac } from "../../keys/LoginCode.js"
import { hashToken } from "../../keys/Token.js"
import { clientNetwork } from "../../database/limits/ClientNetwork.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { method } from "../../base/tracing/Traced.js"
import { clientLoginsRepo, maxWrongTries, type PendingRow } from "./ClientLoginsRepo.js"
import { CodeExpiry } from "./CodeExpiry.js"
import type { LoggedIn } from "./CompletedLogin.js"
import { loginFailures, loginRefusals } from "./Login.js"

const minute = 60_000
const deviceMillis = 10 * minute
const loopbackMillis = minute
/** The least seconds between two polls. */
export const intervalSeconds = 5
const beginnings: RateLimit = { kind: "device", max: 30, window: 15 * minute }
/** Rate limit for wrong codes, per network of a client. */
const wrongCodes: RateLimit = { kind: "user_code", max: 10, window: 15 * minute }
/** How many device logins may be pending, over all networks: their rows are made without a credential. */
const { total: maxPending } = sharedBounds.deviceLogins

const logInAgain = new Forbidden({
  message: "your logins were ended after you logged in here: run coffer login again"
})

/** A login that waits for a person, as the page shows it. */
export interface PendingLogin {
  readonly id: string
  readonly machine: MachineName | null
  readonly ip: string | null
  readonly created_at: string
}

const pendingOf = ({ created_at, id, ip_address, machine }: PendingRow): PendingLogin => ({
  id,
  machine,
  ip: ip_address,
  created_at
})

/** The person whom a login is for, as the actor of its audit entries. */
export const personSource = ({ email, id }: Pick<LoggedIn, "email" | "id">): AuditSource => ({
  actor: { type: "user", id, name: email },
  orgId: null
})

/** The logins of programs, which a person approves in a browser. */
export class ClientLogins extends Effect.Service<ClientLogins>()("@coffer/server/ClientLogins", {
  effect: Effect.gen(function* () {
    const keyring = yield* Keyring
    const repo = yield* clientLoginsRepo
    const audit = yield* AuditLog
    const limits = yield* RateLimits
    const ages = yield* CodeExpiry
    const { change, clock, transaction } = yield* Database
    const users = yield* authRepo

    const limited = (seconds: number) =>
      new RateLimited({
        message: `too many login requests from this address: try again in ${seconds} seconds`,
        retryAfter: seconds
      })

    // Outside of the transaction, which may be tried again.
    const countRefusals = <A, E, R>(effect: Effect.Effect<A, E | RateLimited, R>) =>
      Effect.tapError(effect, (error) => (error instanceof RateLimited ? Metric.increment(loginRefusals) : Effect.void))

    /**
     * Begins a login by device. If too many wait, it ends the oldest of the network that has most. Fails with RateLimited on the
     * 31st from a client's network within 15 minutes.
     */
    const begin = method("ClientLogins.begin", function* (publicUrl: string, machine: MachineName | null) {
      const { ip } = yield* RequestInfo
      const id = yield* uuidV7
      const secret = yield* mintClientSecret
      const code = yield* mintUserCode
      const { start, whole } = macUserCode(keyring, code)
      const network = clientNetwork(ip)
      yield* transaction(
        Effect.gen(function* () {
          const wait = yield* limits.wait(beginnings, network)
          if (wait > 0) return yield* limited(wait)
          const millis = yield* clock
          const since = timestamp(millis - deviceMillis)
          // Strangers of many networks cannot keep others out: they lose their own oldest logins.
          if ((yield* repo.countSince({ since })).count >= maxPending) yield* repo.makeRoom({ since })
          yield* limits.count(beginnings, network)
          yield* repo.insertDevice({
            id,
            hash: hashToken(Redacted.value(secret)),
            start,
            mac: whole,
            machine,
            ip,
            network,
            now: timestamp(millis),
            expiresAt: timestamp(millis + deviceMillis)
          })
        })
      ).pipe(limits.limited(beginnings, network, limited), countRefusals)
      yield* ages.note(id, deviceMillis)
      const shown = showUserCode(code)
      return {
        device_code: secret,
        user_code: shown,
        verification_uri: `${publicUrl}/device`,
        verification_uri_complete: `${publicUrl}/device?code=${shown}`,
        expires_in: deviceMillis / 1000,
        interval: intervalSeconds
      }
    })

    /**
     * Finds the pending login of a user code; undefined if there is none. Counts a wrong code for the client's network, and
     * for the logins whose codes have the same first half. Fails with RateLimited after 10 wrong codes within 15 minutes.
     */
    const find = method("ClientLogins.find", function* (code: UserCode) {
      const network = clientNetwork((yield* RequestInfo).ip)
      const { start, whole } = macUserCode(keyring, code)
      return yield* transaction(
        Effect.gen(function* () {
          const wait = yield* limits.wait(wrongCodes, network)
          if (wait > 0) return yield* limited(wait)
          const candidates = yield* repo.candidates({ start })
          const found = candidates.find(({ mac }) => sameMac(mac, whole))
          const millis = yield* clock
          if (found !== undefined && !(yield* ages.isExpired(found, millis))) {
            return pendingOf(found)
          }
          yield* limits.count(wrongCodes, network)
          yield* repo.countWrongTry({ start, max: maxWrongTries, now: timestamp(millis) })
          return undefined
        })
      ).pipe(
        limits.limited(wrongCodes, network, limited),
        countRefusals,
        Effect.tap((found) => (found === undefined ? Metric.increment(loginFailures) : Effect.void))
      )
    })

    /** The login of an id that `find` returned, if it is still pending. */
    const pending = Effect.fnUntraced(function* (id: string) {
      const login = yield* repo.pending({ id })
      return login === undefined || (yield* ages.isExpired(login, yield* clock)) ? undefined : pendingOf(login)
    })

    /** Fails with Forbidden if the person's logins were ended. Locks the person, so that none is approved at the same time. */
    const hold = Effect.fnUntraced(function* ({ ended, id }: LoggedIn, millis: number) {
      if ((yield* users.holdUser({ id, ended, now: timestamp(millis) })).length === 0) return yield* logInAgain
    })

    /** Approves or refuses a login by device. Returns whether it was still pending. */
    const decide = method("ClientLogins.decide", function* (id: string, by: LoggedIn, decision: "approve" | "refuse") {
      return yield* change(
        [userScope(by.id)],
        Effect.gen(function* () {
          const millis = yield* clock
          yield* hold(by, millis)
          const now = timestamp(millis)
          const [decided] = yield* repo[decision]({ id, userId: by.id, provenAt: by.provenAt, now })
          if (decided === undefined) return false
          if (decision === "refuse") {
            yield* audit.change(personSource(by), {
              action: "auth.verify_failed",
              resource_type: "user",
              resource_id: by.id,
              metadata: {
                method: "device",
                refused: true,
                ...(decided.machine !== null && { machine: decided.machine })
              }
            })
          }
          return true
        })
      )
    })

    /** Returns the code that the browser brings to a program's loopback listener. The person has agreed. */
    const grant = method(
      "ClientLogins.grant",
      function* (
        by: LoggedIn,
        to: {
          readonly redirectUri: LoopbackUri
          readonly challenge: CodeChallenge
          readonly machine: MachineName | null
        }
      ) {
        const id = yield* uuidV7
        const secret = yield* mintClientSecret
        const { ip } = yield* RequestInfo
        yield* change(
          [userScope(by.id)],
          Effect.gen(function* () {
            const millis = yield* clock
            yield* hold(by, millis)
            yield* repo.insertLoopback({
              id,
              hash: hashToken(Redacted.value(secret)),
              challenge: to.challenge,
              redirectUri: to.redirectUri,
              machine: to.machine,
              ip,
              userId: by.id,
              provenAt: by.provenAt,
              now: timestamp(millis),
              expiresAt: timestamp(millis + loopbackMillis)
            })
          })
        )
        yield* ages.note(id, deviceMillis)
        return secret
      }
    )

    return { begin, find, pending, decide, grant } as const
  }),
  dependencies: [CodeExpiry.Default, RateLimits.Default]
}) {}
