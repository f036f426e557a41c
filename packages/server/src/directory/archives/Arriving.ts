import type { UserActor } from "@coffer/domain/access/Actor"
import type { ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import type { OrgId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { now } from "../../base/Time.js"

/** An organization of an archive before it becomes visible. */
export interface Arriving {
  readonly id: OrgId
  readonly name: OrgName
  readonly structure: ArchivedOrganization
  readonly importer: UserActor
}

/** The times of a new row. */
export const stamps = Effect.map(now, (at) => ({ created_at: at, updated_at: at }))

/** Returns the id of a record that an earlier phase wrote. */
export const arrived = <Name extends string, Id>(ids: ReadonlyMap<Name, Id>, name: Name): Effect.Effect<Id> => {
  const id = ids.get(name)
  return id === undefined ? Effect.dieMessage("a part of an import is gone") : Effect.succeed(id)
}
