import Sqlite from "better-sqlite3"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { createRequire } from "node:module"

/** The version of the better-sqlite3 whose code a release has in its bundle. */
declare const COFFER_SQLITE_VERSION: string | undefined

const { modules: abi } = process.versions
const require = createRequire(import.meta.url)

const found = (name: string): Option.Option<string> => Option.getRight(Either.try(() => require.resolve(name)))

/** A module that was compiled for another C library, processor or Node does not load. */
const loads = (file: string): boolean =>
  Either.isRight(
    Either.try(() => {
      require(file)
    })
  )

/** The module of a package of the release, `@coffer/sqlite-linux-x64`: those of Linux differ by the C library. */
const ofPlatform = (): ReadonlyArray<Option.Option<string>> => {
  const name = `@coffer/sqlite-${process.platform}-${process.arch}`
  return [name, `${name}-musl`].map((one) => found(`${one}/abi-${abi}.node`))
}

const isSameVersion = (manifest: unknown): boolean =>
  typeof COFFER_SQLITE_VERSION === "undefined" ||
  (Predicate.hasProperty(manifest, "version") && manifest.version === COFFER_SQLITE_VERSION)

/** The module that npm compiled in a better-sqlite3 of the same version, in the repository or beside the program. */
const ofSource = (): Option.Option<string> =>
  Option.getRight(Either.try((): unknown => require("better-sqlite3/package.json"))).pipe(
    Option.filter(isSameVersion),
    Option.flatMap(() => found("better-sqlite3/build/Release/better_sqlite3.node"))
  )

let known: string | undefined

/** Returns the compiled SQLite of this platform and this Node, if there is one. */
export const addonFile = (): string | undefined =>
  (known ??= [...ofPlatform(), ofSource()].flatMap(Option.toArray).find(loads))

/** Opens a database file. */
export const openFile = (path: string, options: Sqlite.Options = {}): Sqlite.Database => {
  const nativeBinding = addonFile()
  return new Sqlite(path, nativeBinding === undefined ? options : { ...options, nativeBinding })
}
