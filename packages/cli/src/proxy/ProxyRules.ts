import type { Call } from "../grammar/Command.js"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { Use } from "@coffer/domain/secrets/UseRule"
import * as Effect from "effect/Effect"
import { CannotDo } from "../base/Failures.js"
import type { ProxyRule } from "./Outgoing.js"

const isProxyRule = (use: Use): use is Use & ProxyRule => use.place !== undefined

/** The use rules that name the caller. */
export const readRules = (call: Call, path: EnvPath) =>
  Effect.flatMap(
    call("use", (api) => api.uses({ path })),
    ({ data }) => {
      const rules = data.filter(isProxyRule)
      return rules.length === data.length
        ? Effect.succeed(rules)
        : new CannotDo({ message: "the server does not say where its rules put values: update the server" })
    }
  )

/** How long a rule counts that the server may have changed. It decides each request itself; this only finds the secret to name. */
const freshness = "10 seconds"

/** The rules, read again at most every ten seconds. Those that are known stay if the server cannot be reached. */
export const currentRules = (call: Call, path: EnvPath, first: ReadonlyArray<ProxyRule>) =>
  Effect.gen(function* () {
    let known = first
    const reading = readRules(call, path).pipe(
      Effect.map((rules) => {
        known = rules
        return rules
      }),
      Effect.orElseSucceed(() => known)
    )
    return yield* Effect.cachedWithTTL(reading, freshness)
  })
