import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { NodeRequest } from "../../http/NodeRequest.js"
import type { ProviderDown, ProviderRefused } from "../../directory/identities/Failures.js"
import { Identities } from "../../directory/identities/Identities.js"
import { Provider } from "../../directory/identities/Provider.js"
import type { Proof } from "../../directory/identities/ProviderLogin.js"
import { Completion } from "./Completion.js"
import { LoginFlows } from "./LoginFlows.js"
import { type Intent, toHome } from "./Intents.js"
import { failedPage } from "./LoginPages.js"

const failed = (failure: ProviderDown | ProviderRefused) => Effect.succeed(failedPage(failure))

/** How recently the person must have proven at the provider who they are. The session of a program lasts without another proof. */
const proofFor = (intent: Intent): Proof => {
  if (intent.type !== "browser") return "recent"
  return intent.needsProof ? "now" : "any"
}

/** The way to the provider and back; null without one. */
export const makeProviderPages = Effect.gen(function* () {
  const completion = yield* Completion
  const flows = yield* LoginFlows
  const identities = yield* Identities
  const { client: provider } = yield* Provider
  if (provider === null) return null

  const begin = Effect.gen(function* () {
    const flow = Option.getOrElse(yield* flows.find, () => flows.begin(toHome))
    const { address, checks } = yield* provider.begin(proofFor(flow.intent))
    return yield* flows.keep(HttpServerResponse.redirect(address, { status: 303 }), { ...flow, provider: checks })
  }).pipe(Effect.catchTag("ProviderDown", "ProviderRefused", failed))

  /** The state ties the answer to the flow's cookie, the verifier its code, and the nonce its token. */
  const callback = Effect.gen(function* () {
    yield* identities.checkLimit
    const flow = yield* flows.get
    const { url } = yield* NodeRequest.current
    if (flow.provider === null) return yield* flows.gone
    const claims = yield* provider
      .exchange(url.slice(url.indexOf("?")), flow.provider, proofFor(flow.intent))
      .pipe(Effect.tapErrorTag("ProviderRefused", ({ reason }) => identities.refuse(reason)))
    return yield* identities.logIn(claims, (user) => completion.complete(flow, user))
  }).pipe(Effect.catchTag("ProviderDown", "ProviderRefused", failed))

  return { begin, callback } as const
})
