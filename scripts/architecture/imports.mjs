/** The import graph of the modules, read from the sources of all packages. */
import { readdir, readFile } from "node:fs/promises"
import { dirname, join, normalize } from "node:path"
import ts from "typescript"

const root = new URL("../../packages/", import.meta.url)

/** Returns the import specifiers of a module, type-only imports included. */
const specifiersOf = (text) => ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName)

/**
 * Returns the modules of a package by path: each module's room (folder), its imports within the package, and the packages
 * that it imports. Without migrations, whose imports are history.
 */
export const modulesOf = async (name) => {
  const source = new URL(`${name}/src/`, root)
  const paths = (await readdir(source, { recursive: true }))
    .filter((path) => /\.tsx?$/.test(path) && !path.includes("migrations/"))
    .sort()
  const modules = await Promise.all(
    paths.map(async (path) => {
      const specifiers = specifiersOf(await readFile(new URL(path, source), "utf8"))
      const imports = specifiers
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => normalize(join(dirname(path), specifier)).replace(/\.js$/, ""))
        .map((module) => (paths.includes(`${module}.tsx`) ? `${module}.tsx` : `${module}.ts`))
      const packages = specifiers.flatMap((specifier) => /^@coffer\/([a-z]+)\//.exec(specifier)?.[1] ?? [])
      return [path, { room: dirname(path), imports, packages }]
    })
  )
  return new Map(modules)
}

/** Returns the shortest circle of imports of each module that is on one, as the path from the module back to itself. */
export const circlesIn = (modules) =>
  [...modules.keys()].flatMap((start) => {
    // Modules in the order in which they are reached, with the importer of each.
    const importers = new Map([[start, undefined]])
    for (const path of importers.keys()) {
      for (const next of modules.get(path)?.imports ?? []) {
        if (next === start) {
          const circle = [start]
          for (let on = path; on !== undefined; on = importers.get(on)) circle.unshift(on)
          return [circle]
        }
        if (!importers.has(next)) importers.set(next, path)
      }
    }
    return []
  })
