import { typedCode } from "@coffer/domain/base/NameForms"
import { Email, LoginCode } from "@coffer/domain/base/Names"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Login } from "../../directory/login/Login.js"
import { ServerConfig } from "../../base/Config.js"
import { type Form, readForm } from "../../http/Form.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { Identities } from "../../directory/identities/Identities.js"
import { Provider } from "../../directory/identities/Provider.js"
import { callbackPath } from "../../directory/identities/ProviderLogin.js"
import { Completion } from "./Completion.js"
import { type Flow, LoginFlows } from "./LoginFlows.js"
import { intentOf } from "./Intents.js"
import { choosePage, codePage, type Problem } from "./LoginPages.js"
import { orFailedPage } from "./FailedPage.js"
import { Programs } from "./Programs.js"
import { makeProviderPages } from "./ProviderPages.js"

const decodeEmail = Schema.decodeOption(Email)
const decodeCode = Schema.decodeOption(LoginCode)

const notAnAddress: Problem = { message: "that is not an e-mail address such as ada@example.com", status: 400 }
const notACode: Problem = { message: "a code has 6 digits", status: 400 }

/** The pages of a login. */
const makePages = Effect.gen(function* () {
  const { emailLogin, provider } = yield* ServerConfig
  const completion = yield* Completion
  const flows = yield* LoginFlows
  const login = yield* Login

  const choose = (flow: Flow, problem: Problem | null = null, email = "", isAgain = false) =>
    flows.keep(
      choosePage({ csrf: flow.csrf, email, provider: provider?.name ?? null, hasCodes: emailLogin, problem, isAgain }),
      flow
    )

  /** A new flow. With `again`, one for the same intent. */
  const start = Effect.gen(function* () {
    const { url } = yield* NodeRequest.current
    const earlier = url.endsWith("?again") ? yield* flows.find : Option.none()
    return yield* choose(
      flows.begin(Option.isSome(earlier) ? earlier.value.intent : yield* intentOf(url)),
      null,
      Option.match(earlier, { onNone: () => "", onSome: ({ email }) => email ?? "" })
    )
  })

  const requestCode = (flow: Flow, text: string) =>
    Option.match(decodeEmail(text), {
      onNone: () => choose(flow, notAnAddress, text.slice(0, 254)),
      onSome: (email) =>
        login.request(email).pipe(
          Effect.zipRight(flows.keep(codePage(flow.csrf, email), { ...flow, email })),
          Effect.catchTag("Forbidden", "RateLimited", (problem) => choose(flow, problem, email))
        )
    })

  const enterCode = (flow: Flow, email: Email, text: string) =>
    Option.match(decodeCode(typedCode(text)), {
      onNone: () => flows.keep(codePage(flow.csrf, email, notACode), flow),
      onSome: (code) =>
        login
          .exchange(email, code, (user) => completion.complete(flow, user))
          .pipe(
            Effect.catchTag("Forbidden", "LockedOut", (problem) => choose(flow, problem, email)),
            Effect.catchTag("InvalidCode", (problem) => choose(flow, problem, email, true))
          )
    })

  const takeStep = (flow: Flow, form: Form) => {
    const { email } = flow
    return form.get("step") === "code" && email !== null
      ? enterCode(flow, email, form.get("code") ?? "")
      : requestCode(flow, form.get("email") ?? "")
  }

  const submit = Effect.gen(function* () {
    const form = yield* Effect.flatMap(NodeRequest.current, readForm)
    const flow = yield* flows.get
    yield* flows.checkForm(flow, form.get("csrf"))
    return yield* takeStep(flow, form)
  })

  return { start, submit } as const
})

/** The pages for browsers: they work without scripts. */
export const PagesLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const pages = yield* makePages
    const programs = yield* Programs
    const provider = yield* makeProviderPages
    yield* router.get("/login", orFailedPage(pages.start))
    yield* router.post("/login", orFailedPage(pages.submit))
    yield* router.post("/login/decide", orFailedPage(programs.decide))
    yield* router.get("/device", orFailedPage(programs.start))
    yield* router.post("/device", orFailedPage(programs.enterCode))
    if (provider === null) return
    yield* router.get("/login/provider", orFailedPage(provider.begin))
    yield* router.get(callbackPath, orFailedPage(provider.callback))
  })
).pipe(
  Layer.provide([
    Completion.Default,
    LoginFlows.Default,
    Identities.Default,
    Login.Default,
    Programs.Default,
    Provider.Default
  ])
)
