import { TypedUserCode } from "@coffer/domain/directory/ClientLogin"
import { ValidationError } from "@coffer/domain/errors/Errors"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ClientLogins } from "../../directory/login/ClientLogins.js"
import type { LoggedIn } from "../../directory/login/CompletedLogin.js"
import { readForm } from "../../http/Form.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { type Flow, LoginFlows } from "./LoginFlows.js"
import type { Loopback } from "./Intents.js"
import { failedPage, type Problem } from "./LoginPages.js"
import { decidedPage, deviceQuestion, loopbackQuestion, returnPage, userCodePage } from "./ProgramPages.js"

const notACode: Problem = { message: "a code has 8 letters, such as WDJB-MJHT", status: 400 }
const unknownCode: Problem = {
  message: "this code is wrong, used or expired: look at what coffer login shows",
  status: 400
}
const decided = new ValidationError({
  message: "this login was decided already, or is older than 10 minutes: run coffer login again"
})
const outOfOrder = new ValidationError({ message: "this page is not the next one: start again" })

const decodeUserCode = Schema.decodeOption(TypedUserCode)

/** The pages on which a person lets a program log in. */
export class Programs extends Effect.Service<Programs>()("@coffer/server/Programs", {
  effect: Effect.gen(function* () {
    const flows = yield* LoginFlows
    const logins = yield* ClientLogins

    const codePage = (flow: Flow, code = "", problem: Problem | null = null) =>
      flows.keep(userCodePage(flow.csrf, code, problem), flow)

    /** The first page of a login by device. A code in its address is only filled in: the form counts wrong ones. */
    const start = Effect.flatMap(NodeRequest.current, ({ url }) => {
      const code = new URLSearchParams(url.split("?")[1] ?? "").get("code") ?? ""
      return codePage(flows.begin({ type: "device", id: null }), code.slice(0, 20))
    })

    /** Asks the person who has logged in, for as long as that login counts. */
    const ask = Effect.fnUntraced(function* (flow: Flow, person: LoggedIn) {
      const { csrf, intent } = flow
      switch (intent.type) {
        case "browser":
          return failedPage(outOfOrder)
        case "loopback":
          return yield* flows.keep(loopbackQuestion(csrf, person.email, intent), { ...flow, person })
        case "device": {
          if (intent.id === null) return yield* codePage({ ...flow, person })
          const login = yield* logins.pending(intent.id)
          // A failure would roll back the login of the person.
          if (login === undefined) return failedPage(decided)
          return yield* flows.keep(deviceQuestion(csrf, person.email, login), { ...flow, person })
        }
      }
    })

    const takeCode = (flow: Flow, text: string) =>
      Option.match(decodeUserCode(text), {
        onNone: () => codePage(flow, text.slice(0, 20), notACode),
        onSome: (code) =>
          logins.find(code).pipe(
            Effect.flatMap((login) => {
              if (login === undefined) return codePage(flow, "", unknownCode)
              const found: Flow = { ...flow, intent: { type: "device", id: login.id } }
              return flow.person === null
                ? flows.keep(HttpServerResponse.redirect("/login?again", { status: 303 }), found)
                : ask(found, flow.person)
            }),
            Effect.catchTag("RateLimited", (problem) => codePage(flow, "", problem))
          )
      })

    const submitted = Effect.gen(function* () {
      const form = yield* Effect.flatMap(NodeRequest.current, readForm)
      const flow = yield* flows.get
      yield* flows.checkForm(flow, form.get("csrf"))
      return { flow, form }
    })

    const enterCode = Effect.flatMap(submitted, ({ flow, form }) =>
      flow.intent.type === "device" ? takeCode(flow, form.get("code") ?? "") : outOfOrder
    )

    /** Takes the browser back to the program, with a code or with the refusal. */
    const goBack = Effect.fnUntraced(function* (intent: Loopback, person: LoggedIn, isApproved: boolean) {
      const { challenge, machine, redirect_uri, state } = intent
      const answer = isApproved
        ? { code: Redacted.value(yield* logins.grant(person, { redirectUri: redirect_uri, challenge, machine })) }
        : { error: "access_denied" }
      return returnPage(`${redirect_uri}?${new URLSearchParams({ ...answer, state }).toString()}`)
    })

    const settle = Effect.fnUntraced(function* (flow: Flow, isApproved: boolean) {
      const { intent, person } = flow
      if (person === null) return yield* outOfOrder
      switch (intent.type) {
        case "browser":
          return yield* outOfOrder
        case "loopback":
          return yield* goBack(intent, person, isApproved)
        case "device": {
          const done =
            intent.id !== null && (yield* logins.decide(intent.id, person, isApproved ? "approve" : "refuse"))
          return done ? decidedPage(isApproved) : yield* decided
        }
      }
    })

    /** Takes the person's yes or no. Anything else is a no. */
    const decide = Effect.flatMap(submitted, ({ flow, form }) =>
      Effect.flatMap(settle(flow, form.get("answer") === "yes"), flows.end)
    )

    return { ask, start, enterCode, decide } as const
  }),
  dependencies: [ClientLogins.Default, LoginFlows.Default]
}) {}
