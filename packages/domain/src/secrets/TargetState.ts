import { extensibleEnum } from "../base/Schemas.js"

const words = ["in step", "changed there", "missing there", "unknown"] as const
export type TargetStateKind = (typeof words)[number]

/** The states of what was pushed to a target, the worst first. */
export const targetStates: ReadonlyArray<TargetStateKind> = ["changed there", "missing there", "unknown", "in step"]

export const targetStateText =
  "in step; changed there or missing there: somebody else did it after the last push; unknown: the platform does not tell"

export const TargetState = extensibleEnum("TargetState", "how what was pushed is there", words)
