import * as Effect from "effect/Effect"
import type { LoggedIn } from "../../directory/login/CompletedLogin.js"
import { cookieReach, setSessionCookie } from "../../directory/login/SessionCookie.js"
import { Sessions } from "../../directory/login/Sessions.js"
import { ServerConfig } from "../../base/Config.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { type Flow, LoginFlows } from "./LoginFlows.js"
import { donePage } from "./LoginPages.js"
import { Programs } from "./Programs.js"

/** Decides what follows a login in a browser, by code or by the provider: the one place for every intent. */
export class Completion extends Effect.Service<Completion>()("@coffer/server/Completion", {
  effect: Effect.gen(function* () {
    const config = yield* ServerConfig
    const flows = yield* LoginFlows
    const programs = yield* Programs
    const sessions = yield* Sessions

    /** Starts the browser's own session. */
    const browser = Effect.fnUntraced(function* (person: LoggedIn, next: string) {
      const { headers } = yield* NodeRequest.current
      const reach = yield* cookieReach(config, headers)
      const { resource, result: token } = yield* sessions.complete(person, "cookie")
      const response = yield* flows.end(setSessionCookie(donePage(person.email, next), reach, token))
      return { result: response, resource }
    })

    /** Asks whether a program may log in. The person is proven, and has no session yet. */
    const program = (flow: Flow, user: LoggedIn) =>
      Effect.map(programs.ask(flow, user), (result) => ({
        result,
        resource: { resource_type: "user", resource_id: user.id } as const
      }))

    /** Completes a flow for the person who has logged in. Call it in the transaction of the login. */
    const complete = (flow: Flow, user: LoggedIn) => {
      switch (flow.intent.type) {
        case "browser":
          return browser(user, flow.intent.next)
        case "loopback":
        case "device":
          return program(flow, user)
      }
    }

    return { complete } as const
  }),
  dependencies: [LoginFlows.Default, Programs.Default, Sessions.Default]
}) {}
