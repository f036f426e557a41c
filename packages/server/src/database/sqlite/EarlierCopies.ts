import { readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** The path of the copy of a database before a migration. */
export const earlierCopy = (path: string, migration: number): string =>
  `${path}.before-${String(migration).padStart(4, "0")}`

/** The copies of a database from before its migrations. */
export const earlierCopies = (path: string): ReadonlyArray<string> =>
  readdirSync(dirname(path))
    .filter((name) => name.startsWith(`${basename(path)}.before-`))
    .map((name) => join(dirname(path), name))
