import type { ArchivedOrganization, ArchivedPlace, ArchivedProject } from "@coffer/domain/archive/ArchivedOrganization"
import { previewDefaults } from "@coffer/domain/access/Previews"
import { EnvId, type OrgId, ProjectId } from "@coffer/domain/base/Ids"
import type { Email, EnvName } from "@coffer/domain/base/Names"
import { maxEnvironmentDays } from "@coffer/domain/directory/Environment"
import * as Effect from "effect/Effect"
import { previewsRepo } from "../../access/place/Previews.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { recordLimit } from "../../base/Limit.js"
import { uuidV7 } from "../../base/Uuid.js"
import { endProblem, firstOf, invalid, namesIn, type Problem, uniqueNames, unknownName } from "../archives/Checks.js"
import { phase } from "../archives/Phases.js"
import { environmentsArchive } from "../environments/Archive.js"
import { environmentLimit, environmentsRepo } from "../environments/Repo.js"
import { orderProblem } from "./Projects.js"
import { projectsRepo } from "./Repo.js"

const archivedEnvironments = recordLimit(
  5_000,
  (max) => `an organization that is imported has at most ${max} environments`
)

/** The environments that an environment is a copy of end somewhere: each was there before its copy. */
const circleOf = (environments: ReadonlyArray<ArchivedPlace>): string | undefined => {
  const origins = new Map<string, string | undefined>(environments.map(({ from, name }) => [name, from]))
  return environments.find(({ from, name }) => {
    let origin: string | undefined = from
    for (let steps = 0; origin !== undefined && origin !== name && steps < environments.length; steps++) {
      origin = origins.get(origin)
    }
    return origin === name
  })?.name
}

const projectProblem = ({ environments, name, order = [], previews }: ArchivedProject): Problem => {
  const names = namesIn(environments)
  const crowded = environmentLimit.problem(names.length, `project ${name}`)
  if (crowded !== null) return crowded
  const sources = environments.flatMap(({ from }) => (from === undefined ? [] : [from]))
  const circle = circleOf(environments)
  const disorder = orderProblem(order, environments, name)
  return firstOf([
    uniqueNames(`environment of project ${name}`, names),
    disorder === null ? null : invalid(`project ${name}: ${disorder}`),
    unknownName(`environment of project ${name}`, new Set(names), [
      ...sources,
      ...(previews === undefined ? [] : [previews.from])
    ]),
    circle === undefined ? null : invalid(`environment ${name}/${circle} is a copy of itself`)
  ])
}

export const projectsProblem = ({ projects }: ArchivedOrganization): Problem => {
  const count = projects.reduce((total, { environments }) => total + environments.length, 0)
  return firstOf([
    archivedEnvironments.problem(count),
    uniqueNames("project", namesIn(projects)),
    ...projects.map(projectProblem)
  ])
}

/** An end that has passed since the export is no problem. */
export const environmentEndsProblem = ({ projects }: ArchivedOrganization, now: number): Problem =>
  firstOf(
    projects.flatMap(({ environments, name }) =>
      environments.map((env) => endProblem(`environment ${name}/${env.name}`, env, now, maxEnvironmentDays))
    )
  )

interface NewPlace {
  readonly id: EnvId
  readonly env: ArchivedPlace
}

const idOf = (environments: ReadonlyArray<NewPlace>, name: EnvName | undefined) =>
  environments.find(({ env }) => env.name === name)?.id ?? null

/** Projects in archives, with the order of their environments and the previews that they allow. */
export const projectsArchive = Effect.gen(function* () {
  const repo = yield* projectsRepo
  const environments = yield* environmentsRepo
  const archived = yield* environmentsArchive
  const previews = yield* previewsRepo

  const previewsOf = (projectId: ProjectId) =>
    Effect.map(previews.find({ projectId }), (found) =>
      found === undefined
        ? {}
        : { previews: { from: found.source, pattern: found.pattern, max: found.max, longest: found.longest } }
    )

  const read = (orgId: OrgId, isMember: (email: Email) => boolean) =>
    Effect.flatMap(repo.all(orgId), (rows) =>
      forEachInSlices(rows, ({ id, name, strict = false }) =>
        Effect.gen(function* () {
          const order = (yield* environments.ordered({ projectId: id })).map((env) => env.name)
          return {
            ...{ name, strict },
            ...(order.length > 0 && { order }),
            ...(yield* previewsOf(id)),
            environments: yield* archived.read(id, isMember)
          }
        })
      )
    )

  /** Phases that write projects, environments and previews, and the ids of the projects. No environment ends before `earliestEnd`. */
  const write = Effect.fnUntraced(function* (
    org_id: OrgId,
    projects: ReadonlyArray<ArchivedProject>,
    { at, by, earliestEnd }: { readonly at: string; readonly by: string; readonly earliestEnd: number }
  ) {
    const stamps = { created_at: at, updated_at: at }
    const made = yield* forEachInSlices(projects, (project) =>
      Effect.gen(function* () {
        const id = ProjectId.make(yield* uuidV7)
        const places = yield* Effect.forEach(project.environments, (env) =>
          Effect.map(uuidV7, (envId): NewPlace => ({ env, id: EnvId.make(envId) }))
        )
        return { project, id, places }
      })
    )
    const environmentRows = made.flatMap(({ id: project_id, places, project: { order = [] } }) =>
      places.map(({ env: { expires_at, from, name }, id }) => {
        const position = order.indexOf(name)
        return {
          ...{ id, project_id, name, position: position < 0 ? null : position },
          expires_at: expires_at === undefined ? null : Math.max(Date.parse(expires_at), earliestEnd),
          source_id: idOf(places, from),
          ...stamps
        }
      })
    )
    const allowed = made.flatMap(({ id: projectId, places, project: { previews: some } }) => {
      const sourceId = idOf(places, some?.from)
      if (some === undefined || sourceId === null) return []
      const { longest = previewDefaults.longest, max = previewDefaults.max, pattern } = some
      return [{ projectId, sourceId, pattern, max, longest, by, now: at }]
    })
    const phases = [
      phase(
        made.map(({ id, project: { name, strict } }) => ({ id, org_id, name, strict: strict ? 1 : 0, ...stamps })),
        Effect.succeed(repo.insert)
      ),
      phase(environmentRows, Effect.succeed(environments.insert)),
      phase(
        allowed,
        Effect.succeed((some) => Effect.forEach(some, previews.set, { discard: true }))
      )
    ]
    return { phases, ids: new Map(made.map(({ id, project }) => [project.name, id])) } as const
  })

  return { read, write } as const
})
