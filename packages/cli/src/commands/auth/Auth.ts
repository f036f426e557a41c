import { sessionFor } from "@coffer/client/internal/Credentials"
import { forgetSession } from "@coffer/client/internal/StoredSessions"
import { loadSettings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CannotDo } from "../../Failures.js"
import { atServer, clientWith, command, json, serverUrl } from "../../grammar/Command.js"
import { printLine } from "../../terminal/Print.js"
import { doneView, printView, recordView } from "../../terminal/View.js"
import { loginCommand } from "./Login.js"

const logout = command("logout", {
  description: "End the session, and remove it from this machine",
  examples: ["coffer logout"],
  options: { serverUrl },
  run: (options) =>
    Effect.gen(function* () {
      const settings = yield* loadSettings(options)
      const server = yield* settings.server
      const session = yield* sessionFor(server)
      if (Option.isNone(session)) return yield* printLine(`there is no session at ${server.origin}`)
      const client = yield* clientWith(server, session)
      // Remove the session even if the server cannot be reached: this machine may change hands.
      yield* client
        .call("auth", (api) => api.logout({}))
        .pipe(
          Effect.catchTag("Unauthorized", () => Effect.void),
          Effect.mapError(
            (error) =>
              new CannotDo({
                message: `the session is forgotten here, but the server was not notified: ${error.message}`
              })
          ),
          Effect.ensuring(Effect.orDie(forgetSession(server.origin)))
        )
      yield* printLine(`logged out of ${server.origin}`)
    })
})

const whoami = atServer("whoami", {
  description: "Who the credential belongs to",
  examples: ["coffer whoami", "coffer whoami --json"],
  options: {},
  run: ({ call, server }) =>
    Effect.map(
      call("auth", (api) => api.me({})),
      (identity) => {
        const delegation = "delegation" in identity ? identity.delegation : undefined
        const { delegation: _, ...record } = { delegation: undefined, ...identity }
        return {
          ...recordView({
            ...record,
            ...(delegation !== undefined && {
              delegation: delegation.name,
              of: `${delegation.permission} on ${delegation.org}/${delegation.project}/${delegation.env}`,
              reveal: delegation.reveal,
              ...(delegation.keys !== undefined && { keys: delegation.keys.join(" ") }),
              until: delegation.expires_at
            }),
            server: server.origin
          }),
          json: identity
        }
      }
    )
})

const health = command("health", {
  description: "Whether the server can be reached",
  examples: ["coffer health", "coffer health --server-url https://coffer.example.com"],
  options: { serverUrl, json },
  run: ({ json, serverUrl }) =>
    Effect.gen(function* () {
      const settings = yield* loadSettings({ serverUrl })
      const server = yield* settings.server
      const client = yield* clientWith(server, Option.none())
      const health = yield* client.call("system", (api) => api.health({}))
      yield* printView(doneView(`${server.base} is ${health.status}`, health), json)
    })
})

export const authCommands = [loginCommand, logout, whoami, health] as const
