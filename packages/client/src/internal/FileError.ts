import * as Predicate from "effect/Predicate"

/** Whether an exception is the system error with this code, such as `ENOENT`. */
export const hasCode = (cause: unknown, code: string): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === code

/** Returns the code of a system error. */
export const codeOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : "unknown error"

const causes: Readonly<Record<string, string>> = {
  EACCES: "this user has no permission",
  EBADF: "it is closed",
  EBUSY: "another program uses it",
  EDQUOT: "the quota of the disk is used up",
  EEXIST: "it exists already",
  EFBIG: "it is larger than the file system allows",
  EINVAL: "the system does not allow it there",
  EIO: "the disk fails",
  EISDIR: "it is a directory",
  ELOOP: "its links lead in a circle",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "its name is too long",
  ENFILE: "too many files are open",
  ENOENT: "it does not exist",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is not a directory",
  ENXIO: "nothing answers there",
  EPERM: "the system does not permit it",
  EROFS: "the file system is read-only",
  ETXTBSY: "it is being executed"
}

/** Says why a file cannot be read. */
export const readProblem = (cause: unknown): string =>
  causes[codeOf(cause)] ?? `the system refuses it (${codeOf(cause)})`

/** Says why a file cannot be written. */
export const writeProblem = (cause: unknown): string =>
  hasCode(cause, "ENOENT") ? "its directory does not exist" : readProblem(cause)
