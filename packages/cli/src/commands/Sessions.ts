import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { sessionFor } from "@coffer/domain/client/Credentials"
import type { ServerUrl } from "@coffer/domain/client/ServerUrl"
import { forgetSession } from "@coffer/domain/client/SessionFile"
import { SessionId } from "@coffer/domain/Ids"
import type { Session } from "@coffer/domain/Session"
import { Effect, Option } from "effect"
import { WrongUsage } from "../Failures.js"
import { printDone, printList } from "../Output.js"
import { confirm } from "../Prompts.js"
import { argument, atServer, clientWith, connect, settingsOf, yes } from "./Shared.js"

const columns = {
  id: (session: Session) => session.id,
  created: (session: Session) => session.created_at,
  "last used": (session: Session) => session.last_used_at,
  address: (session: Session) => session.ip_address,
  current: (session: Session) => (session.current ? "yes" : "no")
}

const list = Command.make("list", atServer, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const sessions = yield* client.call("auth", (api) => api.sessions({}))
    yield* printList(sessions, options.json, columns, "there are no sessions")
  })
).pipe(Command.withDescription("List your sessions, on all machines. Example: coffer session list"))

/** Forgets the session that is kept here when the server no longer knows it. */
const forgetIfEnded = Effect.fnUntraced(function* (server: ServerUrl) {
  const session = yield* sessionFor(server)
  if (Option.isNone(session)) return
  const client = yield* clientWith(server, session)
  yield* client
    .call("auth", (api) => api.me({}))
    .pipe(Effect.catchTag("Unauthorized", () => forgetSession(server.origin)))
})

const id = argument("ID", SessionId, "The session's id").pipe(Args.optional)
const all = Options.boolean("all").pipe(Options.withDescription("End all of them, this one too"))

const end = Command.make("end", { ...atServer, id, all, yes }, (options) =>
  Effect.gen(function* () {
    if (Option.isSome(options.id) === options.all) {
      return yield* new WrongUsage({ message: "name one session, or write --all: coffer session list shows them" })
    }
    const settings = yield* settingsOf(options)
    const server = yield* settings.server
    const client = yield* connect(server)
    if (Option.isSome(options.id)) {
      const session_id = options.id.value
      yield* client.call("auth", (api) => api.endSession({ path: { session_id } }))
    } else {
      yield* confirm("End all of your sessions, on all machines?", options.yes)
      yield* client.call("auth", (api) => api.endSessions({}))
    }
    yield* forgetIfEnded(server)
    yield* printDone(
      Option.isSome(options.id) ? `session ${options.id.value} ended` : "all sessions ended",
      options.json
    )
  })
).pipe(Command.withDescription("End a session. Example: coffer session end --all"))

export const sessionCommand = Command.make("session").pipe(
  Command.withDescription("Your own sessions"),
  Command.withSubcommands([list, end])
)
