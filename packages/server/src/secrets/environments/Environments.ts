import { type Environment, maxEnvironments } from "@coffer/domain/Environment"
import { inStageOrder } from "@coffer/domain/EnvironmentOrder"
import { Conflict, LimitExceeded } from "@coffer/domain/Errors"
import { EnvId } from "@coffer/domain/Ids"
import type { EnvName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/NotFound.js"
import { touch } from "../../access/Touching.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { orTaken } from "../../database/SqlErrors.js"
import { ReferenceChecks } from "../references/ReferenceChecks.js"
import { secretsRepo } from "../stored/Repo.js"
import { environmentsRepo, positionOf, protectionOf } from "../../directory/environments/Repo.js"
import { traced } from "../../base/tracing/Traced.js"

export class Environments extends Effect.Service<Environments>()("@coffer/server/Environments", {
  effect: Effect.gen(function* () {
    const repo = yield* environmentsRepo
    const audit = yield* AuditLog
    const references = yield* ReferenceChecks
    const stored = yield* secretsRepo

    const create = traced("Environments.create")(
      Effect.fnUntraced(function* (place: Place<"env.create">, name: EnvName) {
        const { project } = place
        const id = EnvId.make(yield* uuidV7)
        const created_at = yield* now
        if ((yield* repo.count({ projectId: project.id })).count >= maxEnvironments) {
          return yield* new LimitExceeded({ message: `a project has at most ${maxEnvironments} environments` })
        }
        yield* repo
          .insert({ id, projectId: project.id, name, now: created_at })
          .pipe(orTaken(() => new Conflict({ message: `the environment name ${name} is in use: choose another` })))
        yield* audit.write(sourceOf(place), {
          action: "env.create",
          resource_type: "env",
          resource_id: id,
          metadata: { env: name, name }
        })

        const created: Environment = { id, name, created_at, updated_at: created_at }
        return created
      })
    )

    const list = traced("Environments.list")(
      Effect.fnUntraced(function* (place: Place<"env.list">) {
        const rows = yield* repo.all({ projectId: place.project.id })
        return inStageOrder(rows).map(({ is_protected, position, ...row }): Environment => ({
          ...row,
          ...positionOf({ position }),
          ...protectionOf({ is_protected })
        }))
      })
    )

    const remove = traced("Environments.remove")(
      Effect.fnUntraced(function* (place: Place<"env.delete">, force = false) {
        const { id, name } = place.env
        const removed_at = yield* now
        const [row] = yield* repo.remove({ id, now: removed_at })
        if (row === undefined) return yield* notFound(`environment ${name}`)
        if (!force) yield* references.admitEnvRemoval(place)
        if (place.passage?.kind === "requested") {
          const secrets = yield* stored.list(id)
          touch(
            place,
            secrets.map(({ key, version }) => ({ key, change: "deleted", version }))
          )
        }
        yield* audit.write(sourceOf(place), {
          action: "env.delete",
          resource_type: "env",
          resource_id: id,
          metadata: { name }
        })
      })
    )

    return { create, list, remove } as const
  }),
  dependencies: [ReferenceChecks.Default]
}) {}
