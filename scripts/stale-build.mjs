/** A setup of vitest: says, before and after the tests, that the build which programs run is older than their sources. */
import { readdirSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../", import.meta.url))
const programs = ["cli", "mcp", "server"]

const timesIn = (folder, isFile = () => true) => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isFile(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .map((path) => ({ path, time: statSync(path).mtimeMs }))
  } catch (cause) {
    if (cause.code === "ENOENT" || cause.code === "ENOTDIR") return []
    throw cause
  }
}

const newest = (files) => files.reduce((last, file) => (file.time > last.time ? file : last), { path: "", time: 0 })

/** The problem with the build, or nothing: a program is missing, or older than a file of the sources of any package. */
export const problem = (folder = root) => {
  const source = newest(
    readdirSync(join(folder, "packages")).flatMap((name) => timesIn(join(folder, "packages", name, "src")))
  )
  for (const name of programs) {
    const built = newest(timesIn(join(folder, "packages", name, "dist/bundle"), (file) => /\.c?js$/.test(file)))
    if (built.time === 0) return `the program of packages/${name} is not built. Run npm run build`
    if (built.time < source.time)
      return `the program of packages/${name} is older than ${relative(folder, source.path)}: tests that start it run the old code. Run npm run build`
  }
  return undefined
}

const say = () => {
  const found = problem()
  if (found !== undefined) process.stderr.write(`\nWarning: ${found}\n`)
}

export default () => {
  // Each project of a run has its own setup: one of them speaks.
  if (process.env.COFFER_BUILD_COMPARED === "1") return undefined
  process.env.COFFER_BUILD_COMPARED = "1"
  say()
  return say
}
