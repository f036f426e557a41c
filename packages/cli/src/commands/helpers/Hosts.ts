import type { HelperRule, HelperTool } from "@coffer/client/internal/HelperRules"
import type { Settings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import { distrust } from "./TrustedPlace.js"

/** The result of looking up the credential for a host: none, the reason why it is withheld, or its rule. */
export type Answer =
  | { readonly type: "none" }
  | { readonly type: "distrusted"; readonly problem: string }
  | { readonly type: "rule"; readonly rule: HelperRule }

export const rulesFor = ({ files: { helpers } }: Settings, tool: HelperTool): ReadonlyArray<HelperRule> =>
  helpers?.rules.filter((rule) => rule.tool === tool) ?? []

/** The usual port of https is as good as none. */
const withoutUsualPort = (host: string): string => host.toLowerCase().replace(/:443$/, "")

/** Whether a rule's path is the path of a repository, or leads to it. */
const leadsTo = (rule: string, path: string): boolean => rule === "" || path === rule || path.startsWith(`${rule}/`)

/**
 * Looks a host up in `service.yml`. Of several rules for paths of the host, the longest counts.
 *
 * @param path the path of a repository, as git sends it with `credential.useHttpPath`.
 */
export const lookUp = Effect.fnUntraced(function* (settings: Settings, tool: HelperTool, host: string, path?: string) {
  const wanted = withoutUsualPort(host)
  const repository = (path ?? "").replace(/^\/+/, "").replace(/(?:\.git)?\/*$/, "")
  const rule = rulesFor(settings, tool)
    .filter((each) => withoutUsualPort(each.host) === wanted && leadsTo(each.path, repository))
    .sort((one, other) => other.path.length - one.path.length)[0]
  const file = settings.files.helpers?.file
  const none: Answer = { type: "none" }
  if (rule === undefined || file === undefined) return none
  const problem = yield* distrust(settings, [file])
  const answer: Answer = problem === undefined ? { type: "rule", rule } : { type: "distrusted", problem }
  return answer
})
