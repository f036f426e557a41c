import { sessionFor } from "@coffer/client/internal/Credentials"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { forgetSession } from "@coffer/client/internal/StoredSessions"
import { loadSettings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { momentCell, momentText } from "../../base/Moments.js"
import { CannotDo } from "../../base/Failures.js"
import { atServerOrEnv, clientWith, command, json, serverUrl, withAlias } from "../../grammar/Command.js"
import { printLine } from "../../terminal/Print.js"
import { doneView, printView, recordView } from "../../terminal/View.js"
import { endedLine, shownDelegations } from "../delegations/StoredDelegations.js"
import { loginCommand } from "./Login.js"
import { placeName } from "@coffer/client/internal/DelegationFile"
import { placesOf } from "../delegations/DelegatedPlaces.js"

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

/** Which delegations are stored for a server: commands would take them in place of the session that is shown. */
const storedLine = (server: ServerUrl) =>
  Effect.map(shownDelegations(server), (found) => {
    if (found.length === 0) return []
    const each = found.map(({ ended, expires_at, name, place }) =>
      ended ? `${place} (${name}, ended)` : `${place} (${name}, until ${momentText(expires_at)})`
    )
    return [
      `without a terminal, commands take a delegation in place of this session: ${each.join(", ")}`,
      ...found.filter(({ ended }) => ended).map(endedLine)
    ]
  }).pipe(Effect.catchTag("PrivateFileError", ({ message }) => Effect.succeed([message])))

const whoami = atServerOrEnv("whoami", {
  description: "Who the credential belongs to: that of the environment, where a delegation is stored for it",
  examples: ["coffer whoami", "coffer whoami --json"],
  options: {},
  run: ({ call, server }) =>
    Effect.gen(function* () {
      const identity = yield* call("auth", (api) => api.me({}))
      const { delegation, ...record } = { delegation: undefined, ...identity }
      const isSession = identity.type === "user" && delegation === undefined
      const { text } = recordView({
        ...record,
        ...(delegation !== undefined && {
          delegation: delegation.name,
          of: `${delegation.permission} on ${placesOf(delegation).map(placeName).join(" and ")}`,
          reveal: delegation.reveal,
          ...(delegation.keys !== undefined && { keys: delegation.keys.join(" ") }),
          until: momentCell(delegation.expires_at)
        }),
        server: server.origin
      })
      const lines = isSession ? yield* storedLine(server) : []
      return { json: identity, text: Effect.zipRight(text, Effect.forEach(lines, printLine, { discard: true })) }
    })
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

export const authCommands = [loginCommand, withAlias(logout, "out"), whoami, health] as const
