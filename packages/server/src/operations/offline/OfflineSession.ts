import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { EngineLive } from "../Engine.js"
import { Database } from "../../database/Database.js"
import { addressScope } from "../../database/Scopes.js"
import { InstanceLive } from "../../keys/Instance.js"
import { KeyringLive } from "../../keys/Keyring.js"
import { StartupError } from "../../base/StartupError.js"
import { Sessions } from "../../directory/login/Sessions.js"
import { Users } from "../../directory/login/Users.js"
import { now } from "../../base/Time.js"

/** Starts a session for an address and returns its token: for programs that hold the database file and the master key. */
export const sessionOf = (email: Email) =>
  Effect.gen(function* () {
    const users = yield* Users
    const sessions = yield* Sessions
    const audit = yield* AuditLog
    const { change } = yield* Database
    return yield* change(
      [addressScope(email)],
      Effect.gen(function* () {
        const user = yield* users.ensure(email)
        if (user.disabled_at !== null) {
          return yield* new StartupError({
            message: `${email} is disabled: ask a superadmin to run coffer user enable ${email}; if there is no other superadmin, set SUPERADMIN_EMAIL_1 to another address and start the server`
          })
        }
        const person = { id: user.id, ended: user.logins_ended, provenAt: yield* now }
        const session = yield* sessions.start(person, "token", null, "operator")
        if (session === null) return yield* Effect.dieMessage("a user changed during the start of an offline session")
        yield* audit.change(systemSource("coffer-server session"), {
          action: "auth.verify",
          resource_type: "session",
          resource_id: session.id,
          metadata: { email }
        })
        return session.token
      })
    )
  })

/**
 * Starts a session for an address offline. Use it when mail is down, an address is locked out, or a script sets up the first
 * organization. Needs the master key and exclusive access to the database.
 */
export const offlineSession = (email: Email) =>
  sessionOf(email).pipe(
    Effect.provide(
      Layer.mergeAll(Users.Default, Sessions.Default).pipe(
        Layer.provideMerge(AuditLog.Default),
        Layer.provide(InstanceLive),
        Layer.provideMerge(EngineLive),
        Layer.provide(KeyringLive)
      )
    )
  )
