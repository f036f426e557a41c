import { type PlannedEnv, planImport } from "@coffer/domain/formats/tools/ImportPlan"
import type { ToolDocument } from "@coffer/domain/formats/tools/ReadDocument"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { isReason } from "@coffer/domain/base/ReasonForm"
import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { call } from "../../../client/Calls.js"
import type { Change } from "../../../staging/Staged.js"
import type { PlaceAt } from "../../PageProps.js"
import { partOf, type Targets } from "./Targets.js"

/** The plan for the part of a document that goes into this project. */
export const planOf = (
  document: ToolDocument,
  project: string | undefined,
  targets: Targets,
  place: PlaceAt<"project">
) => {
  const chosen = new Map([...targets].flatMap(([name, env]) => (env === null ? [] : [[name, env] as const])))
  return planImport(partOf(document, project, targets), {
    project: place.project,
    env: chosen.get("") ?? [...chosen.values()][0],
    envs: chosen,
    projects: new Map(),
    keys: new Map()
  })
}

/** The server's dry run for an environment of the plan, or the reason for its refusal. */
export interface Tried {
  readonly env: EnvName
  readonly written: BundleWritten | null
  readonly problem: string | null
}

const isEmpty = ({ references, set }: PlannedEnv) => set.size + references.size === 0

/** Asks the server what each environment of a plan would change. Nothing is written. */
export const tryAll = ({ org, project }: PlaceAt<"project">, envs: ReadonlyArray<PlannedEnv>) =>
  Effect.forEach(
    envs.filter((each) => !isEmpty(each)),
    ({ env, references, set }) =>
      call("environments", (api) =>
        api.writeBundle({
          path: { org_name: org, project_name: project, env_name: env },
          headers: {},
          payload: {
            ...(set.size > 0 && { set }),
            ...(references.size > 0 && { references }),
            dry_run: true
          }
        })
      ).pipe(
        Effect.either,
        Effect.map(
          Either.match({
            onLeft: ({ message }): Tried => ({ env, written: null, problem: message }),
            onRight: (written): Tried => ({ env, written, problem: null })
          })
        )
      ),
    { concurrency: 3 }
  )

/** The changes to stage: those that change something, or all where the server did not say. */
export const changesOf = (
  { references, set }: PlannedEnv,
  tried: Tried | undefined
): ReadonlyArray<readonly [SecretKey, Change]> => {
  const same = new Set<string>(
    tried?.written?.data.flatMap(({ change, key }) => (change === "unchanged" ? [key] : [])) ?? []
  )
  const kinds = [
    ["text", set],
    ["reference", references]
  ] as const
  return kinds.flatMap(([kind, secrets]) =>
    [...secrets].flatMap(([key, value]) => (same.has(key) ? [] : [[key, { type: "set", kind, value }] as const]))
  )
}

/** How many keys of an environment change how. */
export const countsOf = ({ keys }: PlannedEnv, tried: Tried | undefined) => {
  const changed = (change: string) => tried?.written?.data.filter((one) => one.change === change).length ?? null
  const ofState = (state: string) => keys.filter((key) => key.state === state).length
  return {
    created: changed("created"),
    updated: changed("updated"),
    same: changed("unchanged"),
    translated: ofState("reference"),
    refused: ofState("unsupported"),
    left: ofState("left")
  }
}

/** Returns the note on the changes for the history. */
export const noteOf = ({ source }: PlannedEnv, { tool }: ToolDocument): string => {
  const note = `imported from ${source}`
  return isReason(note) ? note : `imported from ${tool}`
}
