import * as Predicate from "effect/Predicate"

/** Whether an exception is the system error with this code, such as `ENOENT`. */
export const hasCode = (cause: unknown, code: string): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === code

/** Returns the code of a system error. */
export const codeOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : "unknown error"

const causes: Readonly<Record<string, string>> = {
  EACCES: "this user has no permission",
  EISDIR: "it is a directory",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
  ENOENT: "it does not exist",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is not a directory",
  EPERM: "the system does not permit it",
  EROFS: "the file system is read-only"
}

/** Says why a file cannot be read. */
export const readProblem = (cause: unknown): string => causes[codeOf(cause)] ?? codeOf(cause)

/** Says why a file cannot be written. */
export const writeProblem = (cause: unknown): string =>
  hasCode(cause, "ENOENT") ? "its directory does not exist" : readProblem(cause)
