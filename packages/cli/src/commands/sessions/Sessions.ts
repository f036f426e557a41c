import { momentCell } from "../../base/Moments.js"
import { completedBy, flag } from "../../grammar/Specs.js"
import { idOf } from "../../grammar/IdKinds.js"
import { sessionFor } from "@coffer/client/internal/Credentials"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { forgetSession } from "@coffer/client/internal/StoredSessions"
import { SessionId } from "@coffer/domain/base/Ids"
import type { Session } from "@coffer/domain/directory/Session"
import { sessionName } from "@coffer/domain/directory/SessionName"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { atServer, clientWith, group, wide, yes } from "../../grammar/Command.js"
import { optionalArgument } from "../../grammar/Fields.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"

const columns = {
  id: (session: Session) => session.id,
  program: sessionName,
  created: (session: Session) => momentCell(session.created_at),
  "last used": (session: Session) => momentCell(session.last_used_at),
  address: (session: Session) => session.ip_address,
  current: (session: Session) => (session.current ? "yes" : "no")
}

const list = atServer("list", {
  description: "List your sessions, on all machines",
  examples: ["coffer session list", "coffer session list --json"],
  options: { wide },
  run: ({ call }) =>
    Effect.map(
      call("auth", (api) => api.sessions({})),
      (sessions) =>
        listView(
          sessions,
          columns,
          "there are no sessions",
          ["id", "current", "last used"],
          "end one with: coffer session end ID"
        )
    )
})

/** Forgets the session that is kept here when the server no longer knows it. */
const forgetIfEnded = Effect.fnUntraced(function* (server: ServerUrl) {
  const session = yield* sessionFor(server)
  if (Option.isNone(session)) return
  const client = yield* clientWith(server, session)
  yield* client
    .call("auth", (api) => api.me({}))
    .pipe(Effect.catchTag("Unauthorized", () => forgetSession(server.origin)))
})

const end = atServer("end", {
  description: "End a session",
  examples: [
    "coffer session end 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90",
    "coffer session end --others",
    "coffer session end --all"
  ],
  options: {
    id: completedBy("session", optionalArgument("ID", idOf(SessionId), "The session's id")),
    all: flag("all", "End all of them, this one too"),
    others: flag("others", "End all of them but this one"),
    yes
  },
  check: ({ all, id, others }) =>
    [id !== undefined, all, others].filter(Boolean).length === 1
      ? undefined
      : "name one session, or write --others or --all: coffer session list shows them",
  run: ({ call, options, server }) =>
    Effect.gen(function* () {
      const session_id = options.id
      const what = options.others ? "all other sessions" : "all sessions"
      if (session_id === undefined) {
        yield* confirm(`End ${what} of yours, on all machines?`, options.yes)
        yield* call("auth", (api) => api.endSessions({ urlParams: options.others ? { others: true } : {} }))
      } else yield* call("auth", (api) => api.endSession({ path: { session_id } }))
      yield* forgetIfEnded(server)
      return doneView(session_id === undefined ? `${what} ended` : `session ${session_id} ended`)
    })
})

export const sessionCommand = group("session", "Your own sessions", [list, end])
