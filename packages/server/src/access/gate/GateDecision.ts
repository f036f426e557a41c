import type { EnvId, RequestId } from "@coffer/domain/base/Ids"
import type { RequestedKey } from "@coffer/domain/requests/ApprovalRequest"
import * as Context from "effect/Context"

/** A key that a change alters, as it was. */
export interface AffectedKey extends RequestedKey {
  /** The secret that has the key; none if it is created. Another one may have the same key and version by now. */
  readonly id?: string
  /** The version of the value that moves to it. */
  readonly from?: string
  /** Whether it becomes a reference. */
  readonly refers?: true
}

/** The approval of a request. */
export interface Approval {
  readonly id: RequestId
  readonly by: ReadonlyArray<string>
}

/** Records a requested change while it is made: it is compared with what was asked for. */
export interface ChangeRecord {
  /** Whether the change has entered its environment: another one may have its name by now. */
  entered: boolean
  readonly affected: Array<AffectedKey>
  /** The revision that it made. */
  revision: number | null
}

/** The change of an approved request in one environment, or its rehearsal, which has no approval and is rolled back. */
export interface RequestedChange {
  readonly kind: "requested"
  readonly envId: EnvId
  readonly approval: Approval | null
  readonly record: ChangeRecord
}

/**
 * By what the gate of a protected environment let a change through: the votes of its request, breaking the glass, or because a dry
 * run asks for the right alone and writes nothing.
 */
export type GateDecision =
  RequestedChange | { readonly kind: "breakGlass"; readonly reason: string } | { readonly kind: "dryRun" }

/** How the current fiber makes a change: `direct` has nothing that a gate lets through. */
export class ChangeMode extends Context.Reference<ChangeMode>()("@coffer/server/ChangeMode", {
  defaultValue: (): GateDecision | { readonly kind: "direct" } => ({ kind: "direct" })
}) {}
