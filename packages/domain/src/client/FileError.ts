import { Predicate } from "effect"

/** Whether what a file operation threw is the system's error of that name, such as `ENOENT`. */
export const hasCode = (cause: unknown, code: string): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === code

/** The system's name for what went wrong. */
export const codeOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : "unknown error"
