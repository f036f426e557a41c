import { type Environment, maxEnvironmentDays } from "@coffer/domain/directory/Environment"
import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import { Conflict, LimitExceeded } from "@coffer/domain/errors/Errors"
import { EnvId } from "@coffer/domain/base/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { Access, type Place, sourceOf } from "../../access/Access.js"
import { freedNamesRepo } from "../../access/place/FreedNames.js"
import { notFound } from "../../access/place/NotFound.js"
import { previewsRepo } from "../../access/place/Previews.js"
import { requireRecentLogin } from "../../access/caller/RecentLogin.js"
import { recordAffected } from "../../access/Affected.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now, timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database } from "../../database/Database.js"
import { orTaken } from "../../database/SqlErrors.js"
import { ReferenceChecks } from "../references/ReferenceChecks.js"
import { type Prepared, Promotion } from "../services/Promotion.js"
import { secretsRepo } from "../stored/Repo.js"
import { makeRemovals } from "../../directory/trash/Removals.js"
import { checkFutureEnd } from "../../directory/Ends.js"
import { endOf, environmentLimit, environmentOf, environmentsRepo } from "../../directory/environments/Repo.js"
import { method } from "../../base/tracing/Traced.js"
import { makeNameExpiry } from "./EnvironmentExpiry.js"

/** The properties of a new environment besides its name. */
export interface NewEnvironment {
  readonly id?: EnvId
  /** When it ends, in milliseconds since 1970; null: it lasts. */
  readonly end?: number | null
  /** The source of the secrets that it starts with. */
  readonly origin?: {
    readonly from: Place<"secret.copy">
    readonly keys: ReadonlyArray<SecretKey> | undefined
    readonly prepared: Prepared | null
  }
}

export class Environments extends Effect.Service<Environments>()("@coffer/server/Environments", {
  effect: Effect.gen(function* () {
    const repo = yield* environmentsRepo
    const previews = yield* previewsRepo
    const access = yield* Access
    const audit = yield* AuditLog
    const names = yield* freedNamesRepo
    const references = yield* ReferenceChecks
    const promotion = yield* Promotion
    const stored = yield* secretsRepo
    const expireNamed = yield* makeNameExpiry
    const removals = yield* makeRemovals
    const { clock } = yield* Database

    const checkEnd = (end: number | null) =>
      end === null ? Effect.void : Effect.flatMap(clock, (millis) => checkFutureEnd(end, millis, maxEnvironmentDays))

    /** Fails if a project has no room for one more of its previews. Admins are not limited. */
    const checkRoom = Effect.fnUntraced(function* ({ project, via }: Place<"env.create">) {
      const found = via === "rule" ? yield* previews.find({ projectId: project.id }) : undefined
      if (found === undefined || (yield* previews.made(project.id, found)).length < found.max) return
      return yield* new LimitExceeded({
        message: `project ${project.name} has ${found.max} previews, which is the most that it allows: remove one first`
      })
    })

    const create = method(
      "Environments.create",
      function* (place: Place<"env.create">, name: EnvName, given: NewEnvironment = {}) {
        const { end = null, id = EnvId.make(yield* uuidV7), origin } = given
        const { project } = place
        yield* checkEnd(end)
        yield* expireNamed(place, name)
        yield* environmentLimit.room(yield* repo.count({ projectId: project.id }))
        yield* checkRoom(place)
        const created_at = yield* now
        yield* repo
          .insert([
            {
              ...{ id, project_id: project.id, name, position: null, expires_at: end },
              ...{ source_id: origin?.from.env.id ?? null, created_at, updated_at: created_at }
            }
          ])
          .pipe(orTaken(() => new Conflict({ message: `the environment name ${name} is in use: choose another` })))
        const ends = endOf({ expires_at: end })
        yield* audit.change(sourceOf(place), {
          action: "env.create",
          resource_type: "env",
          resource_id: id,
          metadata: { env: name, name, ...(origin !== undefined && { from: origin.from.env.name }), ...ends }
        })
        if (origin !== undefined) {
          const { from, keys, prepared } = origin
          const request = keys === undefined ? {} : { keys }
          yield* promotion.copy(access.created(place, { id, name }), from, request, undefined, prepared)
        }
        const created: Environment = { id, name, ...ends, created_at, updated_at: created_at }
        return created
      }
    )

    const list = method("Environments.list", function* (place: Place<"env.list">) {
      return inStageOrder((yield* repo.all({ projectId: place.project.id })).map(environmentOf))
    })

    /** Sets the end of an environment. A person may only make it later without a recent login: anything else may remove it sooner, or never. */
    const extend = method("Environments.extend", function* (place: Place<"env.extend">, end: number | null) {
      const { id, name } = place.env
      const before = (yield* repo.find({ id })) ?? (yield* notFound(`environment ${name}`))
      const isLater = end !== null && before.expires_at !== null && end >= before.expires_at
      if (!isLater) yield* requireRecentLogin(place.actor)
      yield* checkEnd(end)
      const updated_at = yield* now
      // It may have ended since it was entered.
      if ((yield* repo.setEnd({ id, end, now: updated_at })).length === 0) yield* notFound(`environment ${name}`)
      yield* audit.change(sourceOf(place), {
        action: "env.extend",
        resource_type: "env",
        resource_id: id,
        metadata: {
          name,
          ...endOf({ expires_at: end }),
          ...(before.expires_at !== null && { before: timestamp(before.expires_at) })
        }
      })
      return environmentOf({ ...before, expires_at: end, updated_at })
    })

    /** Removes an environment. Returns its id, and its organization's. */
    const remove = method("Environments.remove", function* (place: Place<"env.delete">, force = false) {
      const { id, name } = place.env
      const removed_at = yield* now
      yield* names.free({ kind: "env", projectId: place.project.id, id, name })
      const [row] = yield* repo.remove({ id, now: removed_at })
      if (row === undefined) return yield* notFound(`environment ${name}`)
      const [orgId, projectId] = [place.org.id, place.project.id]
      yield* removals.removed({ kind: "env", id, orgId, projectId, name }, place.actor)
      if (!force) yield* references.admitEnvRemoval(place)
      if (place.decision?.kind === "requested") {
        const secrets = yield* stored.list(id)
        recordAffected(
          place,
          secrets.map(({ id, key, version }) => ({ key, change: "deleted", id, version }))
        )
      }
      yield* audit.change(sourceOf(place), {
        action: "env.delete",
        resource_type: "env",
        resource_id: id,
        metadata: { name }
      })
      return { orgId, id }
    })

    return { create, list, extend, remove } as const
  }),
  dependencies: [Promotion.Default, ReferenceChecks.Default]
}) {}
