import { Conflict, LimitExceeded, NotFound } from "@coffer/domain/Errors"
import { EnvId, EnvName, ProjectId, type ProjectName } from "@coffer/domain/Names"
import type { Project } from "@coffer/domain/Project"
import { Effect } from "effect"
import { type Place, sourceOf } from "../access/Access.js"
import { AuditLog } from "../audit/AuditLog.js"
import { now } from "../database/Time.js"
import { uuidV7 } from "../database/Uuid.js"
import { isUniqueViolation, transaction } from "../database/Writer.js"
import { OrganizationsRepo } from "../organizations/Repo.js"
import { ProjectsRepo } from "./Repo.js"

const maxProjects = 2_000
const firstEnvironments = [EnvName.make("dev"), EnvName.make("staging"), EnvName.make("prod")]

const gone = (name: ProjectName) => new NotFound({ message: `project ${name} is not there, or not yours to see` })
const taken = (name: ProjectName) => new Conflict({ message: `the project name ${name} is in use: choose another` })

export class Projects extends Effect.Service<Projects>()("@coffer/server/Projects", {
  effect: Effect.gen(function* () {
    const repo = yield* ProjectsRepo
    const organizations = yield* OrganizationsRepo
    const audit = yield* AuditLog

    /** Makes a project with its first three environments. */
    const create = Effect.fn("Projects.create")(function* (place: Place<"project.create">, name: ProjectName) {
      const { org } = place
      const id = ProjectId.make(yield* uuidV7)
      const created_at = yield* now
      const environments = yield* Effect.forEach(firstEnvironments, (env) =>
        Effect.map(uuidV7, (uuid) => ({ id: EnvId.make(uuid), project_id: id, name: env, created_at }))
      )
      yield* transaction(
        Effect.gen(function* () {
          if (!(yield* organizations.claim(org.id))) {
            return yield* new NotFound({ message: `organization ${org.name} is not there` })
          }
          if ((yield* repo.count(org.id)) >= maxProjects) {
            return yield* new LimitExceeded({ message: `an organization has at most ${maxProjects} projects` })
          }
          yield* repo.insert({ id, org_id: org.id, name, created_at })
          yield* repo.insertEnvironments(environments)
          yield* audit.write(sourceOf(place), {
            action: "project.create",
            resource_type: "project",
            resource_id: id,
            metadata: { project: name, name, environments: firstEnvironments }
          })
        }).pipe(Effect.catchIf(isUniqueViolation, () => taken(name)))
      )
      const created: Project = { id, name, created_at, updated_at: created_at }
      return created
    })

    /** The organization's projects; for a service account that is scoped to one, that one. */
    const list = Effect.fn("Projects.list")(function* (place: Place<"project.list">) {
      const all = yield* repo.all(place.org.id)
      const scope = place.actor.type === "service_account" ? place.actor.project : null
      return scope === null ? all : all.filter(({ id }) => id === scope.id)
    })

    const get = Effect.fn("Projects.get")(function* (place: Place<"project.read">) {
      return (yield* repo.find(place.project.id)) ?? (yield* gone(place.project.name))
    })

    const rename = Effect.fn("Projects.rename")(function* (place: Place<"project.update">, name: ProjectName) {
      const { id, name: before } = place.project
      const updated_at = yield* now
      return yield* transaction(
        Effect.gen(function* () {
          const [row] = yield* repo.rename(id, name, updated_at)
          if (row === undefined) return yield* gone(before)
          yield* audit.write(sourceOf(place), {
            action: "project.update",
            resource_type: "project",
            resource_id: id,
            metadata: { name, before }
          })
          const renamed: Project = { id, name, created_at: row.created_at, updated_at }
          return renamed
        }).pipe(Effect.catchIf(isUniqueViolation, () => taken(name)))
      )
    })

    const remove = Effect.fn("Projects.remove")(function* (place: Place<"project.delete">) {
      const { id, name } = place.project
      const removed_at = yield* now
      yield* transaction(
        Effect.gen(function* () {
          const [row] = yield* repo.remove(id, removed_at)
          if (row === undefined) return yield* gone(name)
          yield* audit.write(sourceOf(place), {
            action: "project.delete",
            resource_type: "project",
            resource_id: id,
            metadata: { name }
          })
        })
      )
    })

    return { create, list, get, rename, remove } as const
  }),
  dependencies: [ProjectsRepo.Default, OrganizationsRepo.Default]
}) {}
