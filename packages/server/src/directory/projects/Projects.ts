import { Conflict, ValidationError } from "@coffer/domain/errors/Errors"
import { ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, type ProjectName } from "@coffer/domain/base/Names"
import type { Project } from "@coffer/domain/directory/Project"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { freedNamesRepo } from "../../access/place/FreedNames.js"
import { notVisible } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { recordLimit } from "../../base/Limit.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { orTaken } from "../../database/SqlErrors.js"
import { environmentsRepo } from "../environments/Repo.js"
import { makeRemovals } from "../trash/Removals.js"
import { projectsRepo } from "./Repo.js"
import { method } from "../../base/tracing/Traced.js"

export const projectLimit = recordLimit(2_000, (max) => `an organization has at most ${max} projects`)
const firstEnvironments = [EnvName.make("dev"), EnvName.make("staging"), EnvName.make("prod")]

const taken = (name: ProjectName) => new Conflict({ message: `the project name ${name} is in use: choose another` })

export interface ProjectChange {
  readonly name?: ProjectName
  readonly strict?: boolean
  readonly order?: ReadonlyArray<EnvName>
}

/** How many names a message has. */
const maxNamed = 20

/** Returns the problem with an order of a project's environments; null if there is none. */
export const orderProblem = (
  order: ReadonlyArray<EnvName>,
  existing: ReadonlyArray<{ readonly name: EnvName }>,
  project: ProjectName
): string | null => {
  const known = new Set(existing.map(({ name }) => name))
  const unknown = order.filter((name) => !known.has(name))
  if (unknown.length > 0) {
    return `order: project ${project} has no environment ${unknown.slice(0, maxNamed).join(", ")}`
  }
  const twice = order.find((name, index) => order.indexOf(name) !== index)
  return twice === undefined ? null : `order: names ${twice} twice`
}

export class Projects extends Effect.Service<Projects>()("@coffer/server/Projects", {
  effect: Effect.gen(function* () {
    const repo = yield* projectsRepo
    const environments = yield* environmentsRepo
    const audit = yield* AuditLog
    const names = yield* freedNamesRepo
    const removals = yield* makeRemovals

    /** Creates a project with its first environments. */
    const create = method("Projects.create", function* (place: Place<"project.create">, name: ProjectName) {
      const { org } = place
      const id = ProjectId.make(yield* uuidV7)
      const created_at = yield* now
      yield* projectLimit.room(yield* repo.count({ orgId: org.id }))
      const stamps = { created_at, updated_at: created_at }
      yield* repo.insert([{ id, org_id: org.id, name, strict: 0, ...stamps }]).pipe(orTaken(() => taken(name)))
      for (const env of firstEnvironments) {
        const unset = { position: null, expires_at: null, source_id: null }
        yield* environments.insert([{ id: yield* uuidV7, project_id: id, name: env, ...unset, ...stamps }])
      }
      yield* audit.change(sourceOf(place), {
        action: "project.create",
        resource_type: "project",
        resource_id: id,
        metadata: { project: name, name, environments: firstEnvironments }
      })

      const created: Project = { id, name, strict: false, created_at, updated_at: created_at }
      return created
    })

    /** The organization's projects; a service account that is scoped to a project sees that one only. */
    const list = method("Projects.list", function* (place: Place<"project.list">) {
      const all = yield* repo.all(place.org.id)
      const scope = place.actor.type === "service_account" ? place.actor.project : null
      return scope === null ? all : all.filter(({ id }) => id === scope.id)
    })

    const orderOf = (projectId: ProjectId) =>
      Effect.map(environments.ordered({ projectId }), (rows): Pick<Project, "order"> =>
        rows.length === 0 ? {} : { order: rows.map(({ name }) => name) }
      )

    /** Replaces the order of a project's environments. Lists have those that are not named after the others. */
    const reorder = Effect.fnUntraced(function* (
      project: Place<"project.update">["project"],
      order: ReadonlyArray<EnvName>
    ) {
      const projectId = project.id
      const problem = orderProblem(order, yield* environments.all({ projectId }), project.name)
      if (problem !== null) return yield* new ValidationError({ message: `the body: ${problem}` })
      yield* environments.forgetOrder({ projectId })
      yield* Effect.forEach(order, (name, position) => environments.place({ projectId, name, position }), {
        discard: true
      })
    })

    const get = method("Projects.get", function* (place: Place<"project.read">) {
      const { id, name } = place.project
      const found = (yield* repo.find(id)) ?? (yield* notVisible(`project ${name}`))
      return { ...found, ...(yield* orderOf(id)) }
    })

    /** Changes the name, whether the project is strict, or the order of its environments; what is left out stays. */
    const change = method(
      "Projects.change",
      function* (place: Place<"project.update">, { name, order, strict }: ProjectChange) {
        const { id, name: before } = place.project
        if (name === undefined && strict === undefined && order === undefined) {
          return yield* new ValidationError({
            message: "the body: names nothing to change: send name, strict or order"
          })
        }
        if (order !== undefined) yield* reorder(place.project, order)
        const updated_at = yield* now
        if (name !== undefined && name !== before)
          yield* names.free({ kind: "project", orgId: place.org.id, id, name: before })
        const [row] = yield* repo
          .change({ id, name: name ?? null, strict: strict === undefined ? null : Number(strict), now: updated_at })
          .pipe(orTaken(() => taken(name ?? before)))
        if (row === undefined) return yield* notVisible(`project ${before}`)
        yield* audit.change(sourceOf(place), {
          action: "project.update",
          resource_type: "project",
          resource_id: id,
          metadata: {
            name: row.name,
            before,
            ...(strict !== undefined && { strict }),
            ...(order !== undefined && { order })
          }
        })
        const changed: Project = { id, ...row, strict: row.strict === 1, ...(yield* orderOf(id)), updated_at }
        return changed
      }
    )

    /** Removes a project. Returns its id, and its organization's. */
    const remove = method("Projects.remove", function* (place: Place<"project.delete">) {
      const { id, name } = place.project
      const orgId = place.org.id
      const removed_at = yield* now
      yield* names.free({ kind: "project", orgId: place.org.id, id, name })
      const [row] = yield* repo.remove({ id, now: removed_at })
      if (row === undefined) return yield* notVisible(`project ${name}`)
      yield* removals.removed({ kind: "project", id, orgId, projectId: null, name }, place.actor)
      yield* audit.change(sourceOf(place), {
        action: "project.delete",
        resource_type: "project",
        resource_id: id,
        metadata: { name }
      })
      return { orgId, id }
    })

    return { create, list, get, change, remove } as const
  })
}) {}
