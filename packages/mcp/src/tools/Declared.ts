import { SecretKey } from "@coffer/domain/base/Names"
import { Count } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { reads } from "../Hints.js"
import { parameters, tool } from "../Tool.js"

const keysShown = 60

const Keys = Schema.Array(SecretKey)

export const secretCheck = tool({
  name: "secret_check",
  title: "Check an environment's keys",
  description:
    "Returns how env differs from the keys that its project declares, without values: missing keys, extra keys that are not declared, " +
    `and keys whose value breaks its declared pattern (null where this account is never given values); of each the first ${keysShown}. ` +
    "Use it before a deployment, or to find out which secrets a program needs.",
  hints: reads,
  when: { extra: true },
  parameters: parameters({}),
  at: "env",
  output: Schema.Struct({
    declared: Count,
    missing: Keys,
    extra: Keys,
    breaks: Schema.NullOr(Keys),
    left_out: Count
  }),
  run: (call, path) =>
    Effect.map(
      call("declared", (api) => api.check({ path })),
      ({ breaks, declared, extra, missing }) => {
        const all = [missing, extra, breaks ?? []]
        return {
          declared,
          missing: missing.slice(0, keysShown),
          extra: extra.slice(0, keysShown),
          breaks: breaks?.slice(0, keysShown) ?? null,
          left_out: all.reduce((sum, { length }) => sum + Math.max(0, length - keysShown), 0)
        }
      }
    )
})
