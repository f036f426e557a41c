import type { ServerFacts } from "@coffer/domain/server/ServerFacts"
import { signal } from "@preact/signals"

/** The features and limits of the server; null until it has responded. */
export const facts = signal<ServerFacts | null>(null)

/** Whether requests with secrets are made by use rules. */
export const hasUses = (): boolean => facts.value?.uses === true

/** Whether what is deleted can be brought back, and where. */
export const wayBack = (where: string): string => {
  const days = facts.value?.trash_days ?? 0
  return days === 0
    ? "Only a backup still has them."
    : `For ${days === 1 ? "a day" : `${days.toLocaleString("en")} days`}, it can be restored: under Removed ${where}.`
}
