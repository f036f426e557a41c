import { Predicate } from "effect"

/** Whether an exception is the system error with this code, such as `ENOENT`. */
export const hasCode = (cause: unknown, code: string): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === code

/** Returns the code of a system error. */
export const codeOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : "unknown error"
