import type { SessionToken } from "@coffer/client/internal/Credential"
import { configuredBy, NotAuthenticated } from "@coffer/client/internal/Credentials"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { storeSession } from "@coffer/client/internal/StoredSessions"
import { trustOrigin } from "@coffer/client/internal/TrustedFiles"
import { isTrusted } from "@coffer/client/internal/TrustedOrigins"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { clientWith } from "../../grammar/Command.js"
import { note } from "../../terminal/Print.js"
import { canAsk, confirm } from "../../terminal/Prompts.js"
import { doneView, printView } from "../../terminal/View.js"

/** Asks whether to log in at a server that only `service.yml` names: that file may come with somebody else's repository. */
export const settleServer = Effect.fnUntraced(function* (server: ServerUrl) {
  if (server.source !== "file" || server.local || (yield* isTrusted(server.origin))) return
  yield* note(`service.yml names the server ${server.origin}`)
  if (yield* canAsk) yield* confirm("Log in there, and send your API keys there from now on?", false)
})

/** Stores the session, and trusts its server. */
export const keepSession = Effect.fnUntraced(function* (server: ServerUrl, token: Redacted.Redacted) {
  yield* storeSession(server.origin, token)
  yield* trustOrigin(server.origin)
  const variable = yield* configuredBy
  if (variable !== undefined) yield* note(`${variable} is set and goes before this session: unset it to be yourself`)
})

/** Stores the session of a token that the server takes, and says whose it is. */
export const endLogin = Effect.fnUntraced(function* (server: ServerUrl, secret: Redacted.Redacted, json: boolean) {
  const session: SessionToken = { type: "session", secret }
  const client = yield* clientWith(server, Option.some(session))
  const identity = yield* client
    .call("auth", (api) => api.me({}))
    .pipe(
      Effect.catchTag(
        "Unauthorized",
        () =>
          new NotAuthenticated({
            message: `${server.origin} does not take this token: its session has ended, or it is another server's`
          })
      )
    )
  yield* keepSession(server, secret)
  const name = identity.type === "user" ? identity.email : identity.name
  yield* printView(doneView(`logged in to ${server.origin} as ${name}`, identity), json)
})
