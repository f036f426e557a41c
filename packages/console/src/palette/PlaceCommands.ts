import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import type { OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { readMatrix } from "../client/Matrices.js"
import { shownPages } from "../pages/Shown.js"
import { orgAddress, type Place, projectAddress, secretAddress, serverAddress } from "../routing/Places.js"
import { navigate } from "../routing/Router.js"
import { isInvitedTo, isJoined, organizations } from "../client/Organizations.js"
import type { Command } from "../kit/Commands.js"

const to = (title: string, hint: string, address: string): Command => ({
  title,
  hint,
  run: () => {
    navigate(address)
  }
})

/** Everything that is known without a call: organizations, and the pages of the open place. */
export const knownPlaces = (place: Place | null): ReadonlyArray<Command> => [
  ...(place?.at === "project" || place?.at === "secret"
    ? shownPages("project").map(({ page, title }) =>
        to(title, `${place.org}/${place.project}`, projectAddress(place.org, place.project, page))
      )
    : []),
  ...(place !== null && place.at !== "server"
    ? shownPages("org").map(({ page, title }) => to(title, place.org, orgAddress(place.org, page)))
    : []),
  ...organizations.value.map(({ name }) => to(name, "organization", orgAddress(name))),
  ...shownPages("server").map(({ page, title }) => to(title, "server", serverAddress(page)))
]

const projectsOf = (org: OrgName) =>
  Effect.map(
    call("projects", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data.map(({ name }) => to(name, `project of ${org}`, projectAddress(org, name)))
  )

const keysOf = (org: OrgName, project: ProjectName) =>
  Effect.map(readMatrix(org, project), ({ data, environments }) => {
    const ordered = inStageOrder(environments).map((env) => ({ env, index: environments.indexOf(env) }))
    return data.flatMap(({ cells, key }) => {
      const first = ordered.find(({ index }) => (cells[index] ?? null) !== null)
      return first === undefined ? [] : [to(key, `key of ${project}`, secretAddress(org, project, first.env.name, key))]
    })
  })

/** Reads the places that need a call: the projects of all organizations, and the keys of the open project. */
export const foundPlaces = (place: Place | null) =>
  Effect.map(
    Effect.all(
      [
        ...organizations.value.filter(isJoined).map(({ name }) => projectsOf(name)),
        ...((place?.at === "project" || place?.at === "secret") && !isInvitedTo(place.org)
          ? [keysOf(place.org, place.project)]
          : [])
      ].map((one) => Effect.orElseSucceed(one, (): ReadonlyArray<Command> => [])),
      { concurrency: 4 }
    ),
    (found) => found.flat()
  )
