import { hasCode } from "@coffer/client/internal/FileError"
import { Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { CannotDo } from "../base/Failures.js"

/** The variables that make git look elsewhere than at the folder. Git sets them for hooks. */
const elsewhere = ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX"]

const isInRepository = (folder: string): boolean =>
  existsSync(join(folder, ".git")) || (dirname(folder) !== folder && isInRepository(dirname(folder)))

/**
 * Fails for a file in a git work tree that git does not ignore, or has already.
 *
 * @param wayOut how to write it nevertheless.
 */
export const checkIgnored = Effect.fnUntraced(function* (path: string, wayOut = "--force writes it nevertheless") {
  const refuse = (why: string) =>
    new CannotDo({ message: `${path} ${why}, and a commit could take its secrets along; ${wayOut}` })
  const folder = yield* Effect.try({
    try: () => realpathSync(dirname(path)),
    catch: () => new CannotDo({ message: `${path} would be in a directory that does not exist; create it first` })
  })
  if (!isInRepository(folder)) return
  const variables = yield* Variables
  const env = Object.fromEntries(Object.entries(variables).filter(([name]) => !elsewhere.includes(name)))
  // No program that the configuration of the repository names is started.
  const args = ["-c", "core.fsmonitor=false", "-C", folder, "check-ignore", "--quiet", "--"]
  const { error, status, stderr } = spawnSync("git", [...args, `./${basename(path)}`], { env, encoding: "utf8" })
  if (status === 0) return
  if (status === 1) return yield* refuse("is in a git work tree that does not ignore it")
  if (hasCode(error, "ENOENT")) return yield* refuse("is in a git work tree, and git is not installed to ask")
  return yield* refuse(`is in a git work tree that cannot be asked (${stderr.trim().split("\n")[0] ?? ""})`)
})
