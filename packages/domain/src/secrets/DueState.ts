/** When secrets are due, without schemas. */
export const dayMillis = 24 * 60 * 60 * 1000

/** A secret is due soon from this many days before its due date on. */
export const soonDays = 14
export const soonMillis = soonDays * dayMillis

export const dueStates = ["due", "overdue"] as const
export type DueState = (typeof dueStates)[number]

/** Whether a due date has passed, or is near; null if it is neither. */
export const dueStateAt = (due_at: string | undefined, millis: number): DueState | null => {
  if (due_at === undefined) return null
  const left = Date.parse(due_at) - millis
  return left <= 0 ? "overdue" : left <= soonMillis ? "due" : null
}
