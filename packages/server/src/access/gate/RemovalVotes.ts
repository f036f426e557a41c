import { ApprovalRequired } from "@coffer/domain/errors/Errors"
import type { OrgId, RemovedId } from "@coffer/domain/base/Ids"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import type { Named } from "../place/PlaceRow.js"
import type { Changing, Gate, Guarded, GuardedRow } from "./Gate.js"

/** A change of a place that may hold protected environments: an organization, or one of its projects. */
export interface HolderChange extends Changing {
  readonly org: Named<OrgId, OrgName>
  readonly project: ProjectName | null
}

const guardedBy =
  ({ action, actor, org, source }: HolderChange) =>
  ({ env, env_id: envId, project }: GuardedRow): Guarded => ({
    ...{ action, actor, org, envId, project, env },
    source: { ...source, project, env }
  })

const namesOf = (rows: ReadonlyArray<{ readonly env: EnvName; readonly project: ProjectName }>) =>
  rows.map(({ env, project }) => `${project}/${env}`).join(", ")

const restoring = (names: string) =>
  `one whom the protections of ${names} name may restore it at once, with a reason in X-Coffer-Break-Glass`
const erasing = (names: string) => `restore it, and end the protection of ${names} first`

/** Makes the checks of what holds protected environments: its votes are those of what it holds. */
export const makeRemovalVotes = (gate: Gate) => {
  /** Lets the removal of an organization or a project, or another name of it, through: with the votes of what it protects. */
  const admitRemoval = (change: HolderChange) =>
    Effect.flatMap(gate.protectedBelow(change.org.id, change.project), (rows) =>
      gate.admitAll(
        change.project === null ? `organization ${change.org.name}` : `project ${change.project}`,
        rows,
        guardedBy(change)
      )
    )

  /**
   * Lets the restoration or the erasure of a removed project or environment through, unless it is protected or holds what is.
   *
   * @param named what it is, for messages, such as `project webshop`
   */
  const admitRemoved = (
    from: HolderChange,
    change: "restore" | "erase",
    { id, named }: { readonly id: string; readonly named: string }
  ) =>
    Effect.flatMap(gate.protectedInRemoved(id, change), (rows) =>
      gate.admitAll(`the removed ${named}`, rows, guardedBy(from), change === "restore" ? restoring : erasing)
    )

  /** Fails if protected environments would go with a removed place in which nobody votes. */
  const refuseProtected = (id: RemovedId, what: string) =>
    Effect.flatMap(gate.protectedInRemoved(id, "erase"), (rows) =>
      rows.length === 0
        ? Effect.void
        : new ApprovalRequired({
            message: `${what} holds protected environments, and nothing was changed: ${erasing(namesOf(rows))}`
          })
    )

  return { admitRemoval, admitRemoved, refuseProtected } as const
}
