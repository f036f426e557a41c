import type { HelperRule, HelperTool } from "@coffer/client/internal/HelperRules"
import type { Settings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { distrust, type PlaceOptions, readSecrets } from "./TrustedPlace.js"

/** What is known of the credential for a host: nothing, why it is not given, or which it is. */
export type Answer =
  | { readonly type: "none" }
  | { readonly type: "distrusted"; readonly problem: string }
  | { readonly type: "rule"; readonly rule: HelperRule }

export const rulesFor = ({ files: { helpers } }: Settings, tool: HelperTool): ReadonlyArray<HelperRule> =>
  helpers?.rules.filter((rule) => rule.tool === tool) ?? []

/** Looks a host up in `service.yml`. */
export const lookUp = Effect.fnUntraced(function* (settings: Settings, tool: HelperTool, host: string) {
  const rule = rulesFor(settings, tool).find((each) => each.host === host.toLowerCase())
  const file = settings.files.helpers?.file
  const none: Answer = { type: "none" }
  if (rule === undefined || file === undefined) return none
  const problem = yield* distrust(settings, [file])
  const answer: Answer = problem === undefined ? { type: "rule", rule } : { type: "distrusted", problem }
  return answer
})

/** Reads the password of a rule. */
export const readPassword = (settings: Settings, options: PlaceOptions, { key }: HelperRule) =>
  Effect.map(readSecrets(settings, options, [key]), (secrets) =>
    Option.getOrElse(Option.fromNullable(secrets.get(key)), () => Redacted.make(""))
  )
