import type { EnvId, OrgId, RequestId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import type { RequestedKey } from "@coffer/domain/requests/ApprovalRequest"
import * as Context from "effect/Context"

/** A key that a change alters, as it was. */
export interface Touched extends RequestedKey {
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

/** The change of an approved request in one environment, or its rehearsal, which has no approval and is rolled back. */
export interface RequestedChange {
  readonly kind: "requested"
  readonly envId: EnvId
  readonly approval: Approval | null
  /** Whether the change has entered its environment: another one may have its name by now. */
  entered: boolean
  /** The keys that the change altered: they are compared with those that were asked for. */
  readonly touched: Array<Touched>
  /** The revision that it made. */
  revision: number | null
}

/** A change that becomes a request where the gate refuses it. */
export interface AskingChange {
  readonly kind: "asking"
  /** The protected environment whose votes are missing, as the gate found it; null if the votes of one are not enough. */
  refusedAt: { readonly envId: EnvId; readonly org: { readonly id: OrgId; readonly name: OrgName } } | null
}

/**
 * By what a change passes the gate of a protected environment: as a requested change, by breaking the glass, or because only the
 * right is asked for and nothing is written.
 */
export type PassageShape =
  | { readonly kind: "none" }
  | AskingChange
  | { readonly kind: "harmless" }
  | { readonly kind: "glass"; readonly reason: string }
  | RequestedChange

/** The passage of the current fiber. */
export class Passage extends Context.Reference<Passage>()("@coffer/server/Passage", {
  defaultValue: (): PassageShape => ({ kind: "none" })
}) {}
