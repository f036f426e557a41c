import { refuseUntrusted } from "@coffer/client/internal/TrustedOrigins"
import { loadSettings } from "@coffer/client/internal/Settings"
import { placeName } from "@coffer/client/internal/DelegationFile"
import { stageDelegations } from "@coffer/client/internal/StoredDelegations"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { momentText } from "../../base/Moments.js"
import { WrongUsage } from "../../base/Failures.js"
import { clientWith, command, json, serverUrl } from "../../grammar/Command.js"
import { readBytes, standardInput } from "../../terminal/Bytes.js"
import { askHidden, canAsk } from "../../terminal/Prompts.js"
import { doneView, printView } from "../../terminal/View.js"
import { placesOf } from "./DelegatedPlaces.js"

const maxInputLength = 1_000

const noToken = new WrongUsage({
  message: "that is no delegation: its token starts with svc_dt_ and has 56 characters, as the console shows it once"
})

/** A token is never an argument: other users of the machine can read those. Bytes that are not ASCII fit no token. */
const readToken = Effect.gen(function* () {
  const given = (yield* canAsk)
    ? Redacted.value(yield* askHidden("Token of the delegation: "))
    : (yield* readBytes(standardInput, maxInputLength, noToken)).toString("latin1")
  const text = given.trim()
  return /^svc_dt_[0-9A-Za-z]{49}$/.test(text) ? Redacted.make(text) : yield* noToken
})

export const delegateStore = command("delegate store", {
  description: "Keep a delegation that was made elsewhere, for commands without a terminal on this machine",
  examples: ["coffer delegate store < token.txt"],
  options: { serverUrl, json },
  run: ({ json, serverUrl }) =>
    Effect.gen(function* () {
      const settings = yield* loadSettings({ serverUrl })
      const server = yield* settings.server
      yield* refuseUntrusted(server, "your delegation")
      const token = yield* readToken
      const { call } = yield* clientWith(server, Option.some({ type: "delegation", secret: token }))
      const identity = yield* call("auth", (api) => api.me({}))
      if (identity.type !== "user" || identity.delegation === undefined) return yield* noToken
      const { expires_at: expiresAt, id, name } = identity.delegation
      const places = placesOf(identity.delegation)
      yield* Effect.flatMap(stageDelegations(server.origin, places), (store) => store({ id, name, token, expiresAt }))
      const where = places.map(placeName).join(" and ")
      yield* printView(
        doneView(
          `commands on this machine that have no terminal take the delegation ${name} in ${where} until ${momentText(expiresAt)}`,
          identity.delegation
        ),
        json
      )
    })
})
