import { accessSync, constants, statSync } from "node:fs"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { reasonOf } from "../Reason.js"

/** Whether a file belongs to the user of this process, who may change its mode. */
export const isOwn = ({ uid }: { readonly uid: number }): boolean => uid === process.geteuid?.()

export const modeOf = ({ mode }: { readonly mode: number }): string => (mode & 0o777).toString(8)

const denied = (path: string): string => {
  const user = `user ${process.geteuid?.() ?? "unknown"}`
  return Either.match(
    Either.try(() => statSync(path)),
    {
      onLeft: () => `cannot be reached by ${user}, who may not search a directory above it`,
      onRight: (stats) =>
        `cannot be read and written by ${user}: it belongs to user ${stats.uid} and group ${stats.gid}, with mode ${modeOf(stats)}`
    }
  )
}

const reasonFor = (path: string, error: unknown): string => {
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  if (code === "ENOENT") return "does not exist"
  if (code === "EROFS") return "is on a read-only file system"
  return code === "EACCES" ? denied(path) : `cannot be accessed: ${reasonOf(error)}`
}

const usable = (path: string, mode: number): Either.Either<void, string> =>
  Either.try({
    try: () => {
      accessSync(path, mode)
    },
    catch: (error) => reasonFor(path, error)
  })

/** Checks that this process can read and write a file. Returns what is wrong otherwise, to follow the path in a sentence. */
export const usableFile = (path: string): Either.Either<void, string> => usable(path, constants.R_OK | constants.W_OK)

/** Checks that this process can list a directory and create files in it. Returns what is wrong otherwise, as `usableFile`. */
export const usableDirectory = (path: string): Either.Either<void, string> =>
  usable(path, constants.R_OK | constants.W_OK | constants.X_OK)
