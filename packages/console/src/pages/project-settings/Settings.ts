import type { Environment } from "@coffer/domain/directory/Environment"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import type { Previews } from "@coffer/domain/access/Previews"
import * as Effect from "effect/Effect"
import { allowedIn } from "../../client/Allowed.js"
import { call } from "../../client/Calls.js"
import { environmentsOf } from "../../client/Environments.js"
import { ends } from "../../client/Ending.js"
import { mayInOrg } from "../../client/Organizations.js"

/** The data of the page. */
export interface Settings {
  readonly environments: ReadonlyArray<Environment>
  /** The previews that the project allows; null: none. */
  readonly previews: Previews | null
  /** The previews that the person may extend and remove, as whoever may write in them. */
  readonly own: ReadonlySet<EnvName>
}

const previewsOf = (org: OrgName, project: ProjectName) =>
  call("previews", (api) => api.get({ path: { org_name: org, project_name: project } })).pipe(
    Effect.catchTag("NotFound", () => Effect.succeed(null))
  )

/** Those of the names in which the person may write. */
const writableOf = (org: OrgName, project: ProjectName, names: ReadonlyArray<EnvName>) =>
  Effect.map(
    Effect.forEach(names, (name) => Effect.map(allowedIn(org, project, name, true), (allowed) => ({ name, allowed })), {
      concurrency: 4
    }),
    (all) => all.filter(({ allowed }) => allowed.includes("write")).map(({ name }) => name)
  )

export const readSettings = Effect.fnUntraced(function* (org: OrgName, project: ProjectName) {
  const { environments, previews } = yield* Effect.all(
    { environments: environmentsOf(org, project), previews: previewsOf(org, project) },
    { concurrency: "unbounded" }
  )
  const isAsked = previews !== null && !mayInOrg(org, "env.delete") && mayInOrg(org, "secret.write")
  const names = isAsked
    ? environments.flatMap((one) => (ends(one) && matcherOf(one.name)(previews.pattern) ? [one.name] : []))
    : []
  const own = yield* writableOf(org, project, names)
  return { environments, previews, own: new Set(own) } satisfies Settings
})
