import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The checkout whose server is measured: this one, or the built one of another release that the environment names. */
export const root = process.env.COFFER_BENCH_SERVER ?? fileURLToPath(new URL("../../../../", import.meta.url))
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()

/** The files that make up the measured programs, and the programs that measure them. */
const measured = ["packages/*/src", "packages/server/bench/ceiling", "package-lock.json"]

/** Returns the version of the measured programs, the last commit that changed them, and a digest of their files. */
export const currentVersion = () => {
  const files = git("ls-files", "-s", "--", ...measured)
  const changes = git("diff", "HEAD", "--", ...measured)
  const { version } = JSON.parse(readFileSync(join(root, "packages/server/package.json"), "utf8"))
  const [commit, date] = git("log", "-1", "--format=%h %cs", "--", ...measured).split(" ")
  return { version, commit, date, digest: createHash("sha256").update(files).update(changes).digest("hex") }
}

/** The results that were measured with the programs of a digest. If a row was measured several times, the last one counts. */
export const rowsOf = (runs, digest) => {
  const found = new Map()
  for (const { results } of runs) {
    for (const result of results) {
      if (result.version?.digest === digest) found.set(`${result.row} / ${result.against}`, result)
    }
  }
  return [...found.values()]
}
