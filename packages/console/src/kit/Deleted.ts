import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import type { Removed } from "@coffer/domain/directory/Removed"
import * as Effect from "effect/Effect"
import { call, type Failure } from "../client/Calls.js"
import { noteDone } from "../state/Done.js"
import { facts } from "../state/Server.js"

/** Another person may have erased it. */
const gone: Failure = { _tag: "NotFound", message: "it can no longer be restored" }

/** Restores what was removed last of a name. */
const newest = <A, E, E2>(
  list: Effect.Effect<{ readonly data: ReadonlyArray<Removed> }, E>,
  restore: (removed: Removed) => Effect.Effect<A, E2>
) =>
  Effect.flatMap(list, ({ data: [last] }): Effect.Effect<A, E2 | Failure> =>
    last === undefined ? Effect.fail(gone) : restore(last)
  )

/** Says that a place was deleted, with its restoration where the server keeps what is deleted. */
const note = (what: string, effect: Effect.Effect<unknown, Failure>, done: () => void): void => {
  noteDone(`${what} was deleted.`, (facts.value?.trash_days ?? 0) > 0 ? { effect, done } : null)
}

export const noteOrganization = (name: OrgName, done: () => void): void => {
  const list = call("trash", (api) => api.organizations({ urlParams: { name } }))
  const restore = ({ id }: Removed) =>
    call("trash", (api) => api.restoreOrganization({ path: { removed_id: id }, payload: {} }))
  note(`The organization ${name}`, newest(list, restore), done)
}

export const noteProject = (org: OrgName, name: ProjectName, done: () => void): void => {
  const path = { org_name: org }
  const list = call("trash", (api) => api.projects({ path, urlParams: { name } }))
  const restore = ({ id }: Removed) =>
    call("trash", (api) => api.restoreProject({ path: { ...path, removed_id: id }, payload: {} }))
  note(`The project ${name}`, newest(list, restore), done)
}

export const noteEnvironment = (org: OrgName, project: ProjectName, name: EnvName, done: () => void): void => {
  const path = { org_name: org, project_name: project }
  const list = call("trash", (api) => api.environments({ path, urlParams: { name } }))
  const restore = ({ id }: Removed) =>
    call("trash", (api) => api.restoreEnvironment({ path: { ...path, removed_id: id }, payload: {} }))
  note(`The environment ${name}`, newest(list, restore), done)
}
