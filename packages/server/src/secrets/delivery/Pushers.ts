import type { UserActor } from "@coffer/domain/access/Actor"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { TargetId } from "@coffer/domain/base/Ids"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Access } from "../../access/Access.js"
import { targetsRepo } from "./Repo.js"

/** The person by whose rights a target is pushed may not push there any more. */
export class RightLost extends Data.TaggedError("RightLost")<{ readonly message: string }> {}

/** The target was stopped, changed or removed while it was read. */
export class Superseded extends Data.TaggedError("Superseded") {}

/** Enters the environment of a target as the person by whose rights the server acts there, with the rights of now. */
export const makePushers = Effect.gen(function* () {
  const access = yield* Access
  const repo = yield* targetsRepo

  return Effect.fnUntraced(function* (id: TargetId) {
    const row = yield* repo.placed({ id })
    if (row === undefined) return yield* new Superseded()
    const { email, person, pusher_id, superadmin } = row
    const lost = new RightLost({
      message: `${email ?? "the person who let it be pushed"} has no admin right in ${row.project}/${row.env} any more, by which it was pushed`
    })
    if (pusher_id === null || email === null || person === null) return yield* lost
    const actor: UserActor = {
      ...{ type: "user", id: pusher_id, email, name: person, superadmin: superadmin === 1 },
      ...{ sessionId: null, sessionKind: null, delegation: null },
      ...{ loginIsRecent: false, mayRecover: false, hasPasskey: false, passkeyIsRecent: false }
    }
    const path: EnvPath = { org_name: row.org, project_name: row.project, env_name: row.env }
    const place = yield* access.standing(actor, path, "target.push")
    if (place === null || place.env.id !== row.env_id) return yield* lost
    if (access.alongside(place, place.env, "secret.read") === null) return yield* lost
    return { row, place, email }
  })
})
