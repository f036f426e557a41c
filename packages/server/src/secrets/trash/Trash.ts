import { actorName, type Actor, type UserActor } from "@coffer/domain/access/Actor"
import { Conflict, ValidationError } from "@coffer/domain/errors/Errors"
import { type OrgId, ProjectId, RemovedId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import type { Removed } from "@coffer/domain/directory/Removed"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Access, type OrgPlace, type Place, sourceOf } from "../../access/Access.js"
import { ApprovalMails } from "../../access/gate/ApprovalMails.js"
import { makeVotingNotices } from "../../access/gate/VotingNotices.js"
import { freedNamesRepo } from "../../access/place/FreedNames.js"
import { notFound, notVisible } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Mailer } from "../../base/mail/Mailer.js"
import { now, timestamp } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { afterCommit } from "../../database/Database.js"
import { orTaken } from "../../database/SqlErrors.js"
import { environmentLimit, environmentOf, environmentsRepo } from "../../directory/environments/Repo.js"
import { organizationsRepo } from "../../directory/organizations/Repo.js"
import { projectLimit } from "../../directory/projects/Projects.js"
import { projectsRepo } from "../../directory/projects/Repo.js"
import { makeRemovals } from "../../directory/trash/Removals.js"
import type { TrashRow } from "../../directory/trash/Settling.js"
import { makeNameExpiry } from "../environments/EnvironmentExpiry.js"
import { type RemovedRow, trashRepo } from "./Repo.js"

/** The filter of a list. */
interface Listed {
  readonly name?: string
}

const words = { org: "organization", project: "project", env: "environment" } as const

const removedOf = ({ is_protected, removed_at, restorable_until, ...row }: RemovedRow): Removed => ({
  id: row.id,
  name: row.name,
  ...(is_protected === 1 && { protected: true }),
  removed_by: row.removed_by,
  removed_at: timestamp(removed_at),
  restorable_until: timestamp(restorable_until)
})

const inUse = (what: string, name: string) =>
  new Conflict({ message: `the ${what} name ${name} is in use: restore it under another name` })

const restoredMail = (org: OrgName, before: string, actor: Actor): string =>
  `${actorName(actor)} restored the organization ${org}, which had been removed${org === before ? "" : ` as ${before}`}.

Its projects, secrets, members, access rules and API keys work again. If that must not be, remove it again:

  coffer org delete ${org}

You get this mail because you are an owner.
`

/** Removed organizations, projects and environments: lists and restores them, and gives them up. */
export class Trash extends Effect.Service<Trash>()("@coffer/server/Trash", {
  effect: Effect.gen(function* () {
    const repo = yield* trashRepo
    const access = yield* Access
    const audit = yield* AuditLog
    const mailer = yield* Mailer
    const removals = yield* makeRemovals
    const freed = yield* freedNamesRepo
    const environments = yield* environmentsRepo
    const projects = yield* projectsRepo
    const organizations = yield* organizationsRepo
    const expireNamed = yield* makeNameExpiry
    const notify = yield* makeVotingNotices

    const listOrganizations = traced("Trash.listOrganizations")((actor: UserActor, { name }: Listed) =>
      Effect.map(repo.organizations({ userId: actor.id, all: actor.superadmin ? 1 : 0, name: name ?? null }), (rows) =>
        rows.map(removedOf)
      )
    )

    const listProjects = traced("Trash.listProjects")((place: Place<"project.restore">, { name }: Listed) =>
      Effect.map(repo.projects({ orgId: place.org.id, name: name ?? null }), (rows) => rows.map(removedOf))
    )

    const listEnvironments = traced("Trash.listEnvironments")((place: Place<"env.restore">, { name }: Listed) =>
      Effect.map(repo.environments({ orgId: place.org.id, projectId: place.project.id, name: name ?? null }), (rows) =>
        rows.map(removedOf)
      )
    )

    /** Finds what was removed from a place and can still be restored. */
    const find = Effect.fnUntraced(function* (
      place: OrgPlace<"project.restore" | "project.erase" | "env.restore" | "env.erase">,
      kind: "project" | "env",
      id: RemovedId,
      projectId: ProjectId | null
    ) {
      const row = yield* repo.find({ id, kind, orgId: place.org.id, projectId })
      return row ?? (yield* notFound(`removed ${words[kind]} ${id}`))
    })

    const record = (
      place: OrgPlace<"org.restore" | "org.erase" | "project.restore" | "project.erase" | "env.restore" | "env.erase">,
      { id, kind, name }: Pick<TrashRow, "id" | "kind" | "name">,
      metadata: Record<string, unknown>
    ) =>
      audit.change(sourceOf(place), {
        action: place.action,
        resource_type: kind,
        resource_id: id,
        metadata: { name, ...metadata }
      })

    /** Mails the owners after the commit, if those who voted on what was restored have left meanwhile. */
    const tellStuck = (org: { readonly id: OrgId; readonly name: OrgName }) => afterCommit(notify(org))

    const restoreOrganization = method(
      "Trash.restoreOrganization",
      function* (place: Place<"org.restore">, newName?: OrgName) {
        const { actor, org } = place
        const name = newName ?? org.name
        const at = yield* now
        const [row] = yield* repo
          .restoreOrganization({ id: org.id, name, now: at })
          .pipe(orTaken(() => inUse("organization", name)))
        if (row === undefined) return yield* notVisible(`removed organization ${org.id}`)
        yield* repo.forget({ id: org.id })
        yield* removals.checkName(actor, name)
        // The name of another protected organization cannot be voted on here.
        if ((yield* freed.find({ kind: "org", id: org.id, name }, actor.id)) !== undefined) {
          return yield* inUse("organization", name)
        }
        yield* record(
          place,
          { id: RemovedId.make(org.id), kind: "org", name },
          name === org.name ? {} : { before: org.name }
        )
        const owners = yield* repo.owners({ orgId: org.id })
        yield* afterCommit(
          Effect.forEach(
            owners,
            ({ email }) =>
              mailer.sendNotice({
                to: email,
                subject: `Organization ${name} was restored`,
                text: restoredMail(name, org.name, actor),
                lifetime: Duration.hours(24)
              }),
            { discard: true }
          )
        )
        yield* tellStuck({ id: org.id, name })
        return (
          (yield* organizations.find({ id: org.id, actorId: actor.id })) ??
          (yield* Effect.dieMessage("a restored organization has no row"))
        )
      }
    )

    const restoreProject = method(
      "Trash.restoreProject",
      function* (place: Place<"project.restore">, id: RemovedId, newName?: ProjectName) {
        const found = yield* find(place, "project", id, null)
        yield* access.admitRemoved(place, "restore", { id, named: `project ${found.name}` })
        yield* projectLimit.room(yield* projects.count({ orgId: place.org.id }))
        const name = newName ?? ProjectName.make(found.name)
        const [row] = yield* repo
          .restoreProject({ id, name, now: yield* now })
          .pipe(orTaken(() => inUse("project", name)))
        if (row === undefined) return yield* notFound(`removed project ${id}`)
        yield* access.admitName(place, { kind: "project", orgId: place.org.id, id: ProjectId.make(row.id), name })
        yield* repo.forget({ id })
        yield* record(place, { ...found, name }, { project: name, ...(name !== found.name && { before: found.name }) })
        yield* tellStuck(place.org)
        return (
          (yield* projects.find(ProjectId.make(row.id))) ?? (yield* Effect.dieMessage("a restored project has no row"))
        )
      }
    )

    const restoreEnvironment = method(
      "Trash.restoreEnvironment",
      function* (place: Place<"env.restore">, id: RemovedId, newName?: EnvName) {
        const { project } = place
        const found = yield* find(place, "env", id, project.id)
        yield* access.admitRemoved(place, "restore", { id, named: `environment ${project.name}/${found.name}` })
        const name = newName ?? EnvName.make(found.name)
        yield* expireNamed(place, name)
        yield* environmentLimit.room(yield* environments.count({ projectId: project.id }))
        const [row] = yield* repo
          .restoreEnvironment({ id, name, now: yield* now })
          .pipe(orTaken(() => inUse("environment", name)))
        if (row === undefined) return yield* notFound(`removed environment ${id}`)
        yield* access.admitName(place, { kind: "env", projectId: project.id, id: row.id, name })
        yield* repo.forget({ id })
        yield* record(place, { ...found, name }, { env: name, ...(name !== found.name && { before: found.name }) })
        yield* tellStuck(place.org)
        const restored = yield* environments.find({ id: row.id })
        return restored === undefined
          ? yield* Effect.dieMessage("a restored environment has no row")
          : environmentOf(restored)
      }
    )

    /** Fails unless the name of what is to be erased is the one that was given. */
    const checkName = (row: Pick<TrashRow, "kind" | "name">, given: string) =>
      given === row.name
        ? Effect.void
        : new ValidationError({
            message: `the body: name: must be ${row.name}, the name of the removed ${words[row.kind]}`
          })

    const giveUp = Effect.fnUntraced(function* (
      place: OrgPlace<"org.erase" | "project.erase" | "env.erase">,
      row: TrashRow
    ) {
      if ((yield* repo.giveUp({ id: row.id })).length === 0) {
        return yield* notFound(`removed ${words[row.kind]} ${row.id}`)
      }
      yield* record(place, row, { ...(row.kind === "org" ? {} : { [row.kind]: row.name }) })
      return row
    })

    /** Gives up a removed organization. It has no votes, so one with protected environments is restored first. */
    const eraseOrganization = method("Trash.eraseOrganization", function* (place: Place<"org.erase">, given: OrgName) {
      const { id, name } = place.org
      const row: TrashRow = { id: RemovedId.make(id), kind: "org", org_id: id, project_id: null, name }
      yield* checkName(row, given)
      yield* access.refuseProtected(row.id, `the removed organization ${name}`)
      return yield* giveUp(place, row)
    })

    const eraseProject = method(
      "Trash.eraseProject",
      function* (place: Place<"project.erase">, id: RemovedId, given: ProjectName) {
        const row = yield* find(place, "project", id, null)
        yield* checkName(row, given)
        yield* access.admitRemoved(place, "erase", { id, named: `project ${row.name}` })
        return yield* giveUp(place, row)
      }
    )

    const eraseEnvironment = method(
      "Trash.eraseEnvironment",
      function* (place: Place<"env.erase">, id: RemovedId, given: EnvName) {
        const row = yield* find(place, "env", id, place.project.id)
        yield* checkName(row, given)
        yield* access.admitRemoved(place, "erase", { id, named: `environment ${place.project.name}/${row.name}` })
        return yield* giveUp(place, row)
      }
    )

    return {
      listOrganizations,
      listProjects,
      listEnvironments,
      restoreOrganization,
      restoreProject,
      restoreEnvironment,
      eraseOrganization,
      eraseProject,
      eraseEnvironment
    } as const
  }),
  dependencies: [ApprovalMails.Default]
}) {}
