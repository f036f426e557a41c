import { extensibleEnum, optional } from "./Schemas.js"

/** After how many days without a use a rule or an account is marked. */
export const unusedDays = 90

export const usages = ["unused", "unknown"] as const
export type Usage = (typeof usages)[number]

const Usage = extensibleEnum("Usage", `whether the last ${unusedDays} days had a use`, usages)

/** The mark of what was not used for a long time. */
export const usageField = (meaning: string) => optional(Usage, `${meaning}; absent: it was used, or is newer`, "unused")

/** The mark of a right by the audit log. */
export const usageByLog = (unused: string) =>
  usageField(
    `\`unused\`: ${unused} in the last ${unusedDays} days; \`unknown\`: the audit log cannot say, for example because older entries left it`
  )
