/** Files between the folder where a bundle is made and the archive that it goes into. */
import { readdir, readFile } from "node:fs/promises"
import { join, relative } from "node:path"

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
