import type { EnvPlace } from "./Access.js"
import type { Action } from "@coffer/domain/access/Permissions"
import type { AffectedKey } from "./gate/GateDecision.js"

/** Records what a requested change alters: if it is another thing when it is made, the request is outdated. */
export const recordAffected = ({ decision }: EnvPlace<Action>, keys: ReadonlyArray<AffectedKey>): void => {
  if (decision?.kind === "requested") decision.record.affected.push(...keys)
}

/** Records the revision that a requested change makes. */
export const recordRevision = ({ decision }: EnvPlace<Action>, revision: number): void => {
  if (decision?.kind === "requested") decision.record.revision = revision
}
