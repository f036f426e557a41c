/** Files between the folder where a bundle is made and the archive that it goes into, and their time. */
import { execFileSync } from "node:child_process"
import { readdir, readFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { root } from "../bundling.mjs"

/** The time of every file, in seconds since 1970: the one of the commit, so that anybody gets the same bytes. */
export const time = () => {
  const { SOURCE_DATE_EPOCH } = process.env
  if (SOURCE_DATE_EPOCH !== undefined) return Number(SOURCE_DATE_EPOCH)
  const cwd = fileURLToPath(root)
  return Number(execFileSync("git", ["log", "-1", "--format=%ct"], { cwd, encoding: "utf8" }))
}

/** Returns the content of every file below a folder, by path. */
export const filesOf = async (folder) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path)]))
  )
}
