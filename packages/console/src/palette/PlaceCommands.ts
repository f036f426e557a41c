import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import type { OrgName, ProjectName } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { readMatrix } from "../client/Matrices.js"
import { shownPages } from "../pages/Shown.js"
import { envAddress, orgAddress, type Place, projectAddress, secretAddress, serverAddress } from "../routing/Places.js"
import { navigate } from "../routing/Router.js"
import { isInvitedTo, isJoined, mayInOrg, organizations } from "../client/Organizations.js"
import type { Command, CommandKind } from "../kit/Commands.js"

export const to = (kind: CommandKind, title: string, hint: string, address: string): Command => ({
  kind,
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
        to("Pages", title, `${place.org}/${place.project}`, projectAddress(place.org, place.project, page))
      )
    : []),
  ...(place !== null && place.at !== "server"
    ? shownPages("org").map(({ page, title }) => to("Pages", title, place.org, orgAddress(place.org, page)))
    : []),
  ...organizations.value.map(({ name }) => to("Organizations", name, "organization", orgAddress(name))),
  ...shownPages("server").map(({ page, title }) => to("Pages", title, "server", serverAddress(page)))
]

const projectsOf = (org: OrgName) =>
  Effect.map(
    call("projects", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data.map(({ name }) => to("Projects", name, `project of ${org}`, projectAddress(org, name)))
  )

const keysOf = (org: OrgName, project: ProjectName) =>
  Effect.map(readMatrix(org, project), ({ data, environments }) => {
    const ordered = inStageOrder(environments).map((env) => ({ env, index: environments.indexOf(env) }))
    return [
      ...ordered.map(({ env: { name } }) =>
        to("Environments", name, `environment of ${project}`, envAddress(org, project, name))
      ),
      ...data.flatMap(({ cells, key }) => {
        const first = ordered.find(({ index }) => (cells[index] ?? null) !== null)
        return first === undefined
          ? []
          : [to("Keys", key, `key of ${project}`, secretAddress(org, project, first.env.name, key))]
      })
    ]
  })

const orNothing = <E>(read: Effect.Effect<ReadonlyArray<Command>, E>) =>
  Effect.orElseSucceed(read, (): ReadonlyArray<Command> => [])

/** Reads the places that need a call: the projects of all organizations, and what the open project has. */
export const foundPlaces = (place: Place | null) =>
  Effect.map(
    Effect.all(
      [
        ...organizations.value.filter(isJoined).map(({ name }) => projectsOf(name)),
        ...((place?.at === "project" || place?.at === "secret") && !isInvitedTo(place.org)
          ? [keysOf(place.org, place.project)]
          : [])
      ].map(orNothing),
      { concurrency: 4 }
    ),
    (found) => found.flat()
  )

/** Reads the members, the groups and the service accounts of an organization, where the person may list them. */
const peopleOf = (org: OrgName) => {
  const path = { org_name: org }
  const address = (page: string, name: string, value: string) =>
    `${orgAddress(org, page)}?${name}=${encodeURIComponent(value)}`
  const read = <E>(action: Action, one: Effect.Effect<ReadonlyArray<Command>, E>) =>
    mayInOrg(org, action) ? [orNothing(one)] : []
  return Effect.map(
    Effect.all(
      [
        ...read(
          "member.list",
          Effect.map(
            call("members", (api) => api.list({ path })),
            ({ data }) =>
              data.map(({ email, role, user_id }) =>
                to("Members", email, `${role} of ${org}`, address("members", "member", user_id))
              )
          )
        ),
        ...read(
          "group.list",
          Effect.map(
            call("groups", (api) => api.list({ path })),
            ({ data }) => data.map(({ name }) => to("Groups", name, `group of ${org}`, address("groups", "q", name)))
          )
        ),
        ...read(
          "service_account.list",
          Effect.map(
            call("serviceAccounts", (api) => api.list({ path })),
            ({ data }) =>
              data.map(({ name }) =>
                to("Service accounts", name, `service account of ${org}`, address("accounts", "q", name))
              )
          )
        )
      ],
      { concurrency: 3 }
    ),
    (found) => found.flat()
  )
}

/** The same of several organizations. */
export const foundPeople = (orgs: ReadonlyArray<OrgName>) =>
  Effect.map(Effect.forEach(orgs, peopleOf, { concurrency: 2 }), (found) => found.flat())
