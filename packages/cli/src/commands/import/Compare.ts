import type { ProjectPath } from "@coffer/domain/api/Paths"
import { defined } from "@coffer/domain/base/Defined"
import type { ImportPlan, PlannedEnv } from "@coffer/domain/formats/tools/ImportPlan"
import type { SecretMap } from "@coffer/domain/formats/Reading"
import { parseReference, targetsOf } from "@coffer/domain/secrets/Reference"
import type { EnvName, OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { etagOf } from "../../changes/BulkChange.js"
import type { Failure } from "../../base/Failures.js"
import type { Call } from "../../grammar/Command.js"

/** The effect of a write on a key: `same import` if it depends on another environment that the import writes. */
export type KeyChange = "new" | "same" | "different" | "same import" | "unknown"

/** The comparison of a planned environment with the server. */
export interface Compared {
  readonly planned: PlannedEnv
  /** Whether its project and the environment exist. */
  readonly exists: "all" | "project" | "none"
  readonly changes: ReadonlyMap<string, KeyChange>
  /** Of the environment as it was compared. */
  readonly etag?: string
  /** Why the server would refuse the write. */
  readonly problem?: string
}

const words: Readonly<Record<string, KeyChange>> = { created: "new", updated: "different", unchanged: "same" }

/** The environments of a project; none if there is no such project. */
const envsOf = (call: Call, path: ProjectPath) =>
  call("environments", (api) => api.list({ path })).pipe(
    Effect.map(({ data }): ReadonlySet<string> | undefined => new Set(data.map(({ name }) => name))),
    Effect.catchTag("NotFound", () => Effect.succeed(undefined))
  )

/** References that lead to other environments: these may be written before, and not exist yet. */
const leadsAway = (text: Redacted.Redacted): boolean =>
  Either.match(parseReference(Redacted.value(text)), {
    onLeft: () => false,
    onRight: (parts) => targetsOf(parts).some(({ env }) => env !== null)
  })

const withoutThose = (references: SecretMap): SecretMap =>
  new Map([...references].filter(([, text]) => !leadsAway(text)))

const asNew = ({ references, set }: PlannedEnv): ReadonlyMap<string, KeyChange> =>
  new Map([...set.keys(), ...references.keys()].map((key) => [key, "new"]))

/** Compares each environment of a plan with what the server has, by a dry run. */
export const compare = Effect.fnUntraced(function* (call: Call, org: OrgName, { envs }: ImportPlan) {
  const names = [...new Set(envs.map(({ project }) => project))]
  const projects = new Map(
    yield* Effect.forEach(names, (name) =>
      Effect.map(envsOf(call, { org_name: org, project_name: name }), (found) => [name, found] as const)
    )
  )
  const dryRun = (planned: PlannedEnv, references: SecretMap) => {
    const path = { org_name: org, project_name: planned.project, env_name: planned.env }
    const payload = { set: planned.set, references, dry_run: true }
    return Effect.map(
      call("environments", (api) => api.writeBundle({ path, headers: {}, payload, withResponse: true })),
      ([{ data }, response]) => {
        const changes = new Map<string, KeyChange>(data.map(({ change, key }) => [key, words[change] ?? "unknown"]))
        const etag = etagOf(response)
        for (const key of planned.references.keys()) if (!changes.has(key)) changes.set(key, "same import")
        return { planned, exists: "all" as const, changes, ...defined({ etag }) }
      }
    )
  }
  return yield* Effect.forEach(envs, (planned): Effect.Effect<Compared, Failure> => {
    const found = projects.get(planned.project)
    if (found === undefined) return Effect.succeed({ planned, exists: "none", changes: asNew(planned) })
    if (!found.has(planned.env)) return Effect.succeed({ planned, exists: "project", changes: asNew(planned) })
    const refuse = ({ message }: { readonly message: string }) =>
      Effect.succeed<Compared>({ planned, exists: "all", changes: new Map(), problem: message })
    return dryRun(planned, planned.references).pipe(
      Effect.catchTag("ReferenceRefused", (refused) =>
        planned.needs.length === 0 ? refused : dryRun(planned, withoutThose(planned.references))
      ),
      Effect.catchTags({
        ReferenceRefused: refuse,
        Forbidden: refuse,
        PatternBroken: refuse,
        UseWidens: refuse,
        LimitExceeded: refuse
      })
    )
  })
})

/** The environments whose keys would change. */
export const isChanged = ({ changes, exists }: Compared): boolean =>
  exists !== "all" || [...changes.values()].some((change) => change !== "same")

/** How people name an environment. */
export const placeName = ({ env, project }: { readonly project: string; readonly env: EnvName }): string =>
  `${project}/${env}`
