import { spawnSync } from "node:child_process"
import { chmodSync, copyFileSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { must } from "./Support.js"

const isRoot = process.getuid?.() === 0
const namespaces = ["--mount", ...(isRoot ? [] : ["--map-root-user"])]

/** Whether this system lets the tests have a root of their own. */
export const hasRoots = process.platform === "linux" && spawnSync("unshare", [...namespaces, "true"]).status === 0

/**
 * The arguments of `unshare` that start a command with a folder as its root, which cannot be written to, as a user without
 * rights.
 *
 * @param prepare shell commands before that, with the folder in `$0`
 */
export const inside = (root: string, command: ReadonlyArray<string>, prepare = ":") => [
  ...[...namespaces, "sh", "-euc"],
  `mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; ${prepare}
  exec chroot ${isRoot ? "--userspec=10001:10001" : ""} "$0" "$@"`,
  ...[root, ...command]
]

const put = (root: string, from: string, to: string) => {
  mkdirSync(join(root, dirname(to)), { recursive: true })
  copyFileSync(from, join(root, to))
  chmodSync(join(root, to), 0o755)
}

/** Puts the dynamic loader and the libraries of a program into a root. */
export const putLibraries = async (root: string, file: string) => {
  for (const library of (await must("ldd", [file])).match(/\/\S+/g) ?? []) put(root, library, library)
}

/** Puts a program into a root, with what it needs. */
export const putProgram = async (root: string, file: string, place: string) => {
  put(root, file, place)
  await putLibraries(root, file)
}
