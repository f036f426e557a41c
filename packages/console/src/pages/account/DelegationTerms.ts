import type { DelegablePermission } from "@coffer/domain/directory/Delegation"

/** The lifetimes of delegations that the console offers, in seconds. */
export const delegationSpans = { "30 minutes": 1_800, "1 hour": 3_600, "8 hours": 28_800, "24 hours": 86_400 } as const
export type DelegationSpan = keyof typeof delegationSpans
export const delegationSpanWords: ReadonlyArray<DelegationSpan> = ["30 minutes", "1 hour", "8 hours", "24 hours"]

export const permissionHints: Readonly<Record<DelegablePermission, string>> = {
  use: "Use values in requests that the server sends, without seeing them.",
  read: "Read values and their history.",
  write: "Read and write values."
}
