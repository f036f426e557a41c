import { Effect, Match } from "effect"
import type { LoggedIn } from "../auth/Completed.js"
import { cookieReach, setSessionCookie } from "../auth/SessionCookie.js"
import { Sessions } from "../auth/Sessions.js"
import { ServerConfig } from "../Config.js"
import { NodeRequest } from "../http/NodeRequest.js"
import { Flows, type Intent } from "./Flow.js"
import { donePage } from "./LoginPages.js"

/** Where a browser goes after its login. */
const home = "/"

/** Decides what follows a login in a browser, by code or by the provider: the one place for every intent. */
export class Completion extends Effect.Service<Completion>()("@coffer/server/Completion", {
  effect: Effect.gen(function* () {
    const config = yield* ServerConfig
    const flows = yield* Flows
    const sessions = yield* Sessions

    /** Starts the browser's own session. */
    const browser = Effect.fnUntraced(function* ({ email, id }: LoggedIn) {
      const { headers } = yield* NodeRequest.current
      const reach = yield* cookieReach(config, headers)
      const { resource, result: token } = yield* sessions.complete(id, "cookie")
      const response = yield* flows.end(setSessionCookie(donePage(email, home), reach, token))
      return { result: response, resource }
    })

    /** Completes a flow for the person who has logged in. Call it in the transaction of the login. */
    const complete = (intent: Intent, user: LoggedIn) =>
      Match.value(intent).pipe(Match.discriminatorsExhaustive("type")({ browser: () => browser(user) }))

    return { complete } as const
  }),
  dependencies: [Flows.Default, Sessions.Default]
}) {}
