import * as Cause from "effect/Cause"

/** The type of a defect. Logs have no more of it: its message may contain a value. */
export const typeOfDefect = (cause: Cause.Cause<unknown>): string => {
  const defect = Cause.squash(cause)
  return defect instanceof Error ? defect.name : typeof defect
}
