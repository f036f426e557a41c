/**
 * What the tests keep of the last release, for clients and servers of neighbouring releases: its packages for applications,
 * and what its server answers them. See packages/client/test/releases.
 */
import { execFile } from "node:child_process"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { root } from "../bundling.mjs"

const folder = fileURLToPath(new URL("packages/client/test/releases/last/", root))

/** The version of the last release. Without it, the tests had nothing to hold this release to. */
export const lastVersion = async () => {
  try {
    return JSON.parse(await readFile(join(folder, "server.json"), "utf8")).version
  } catch (cause) {
    throw new Error(`${folder} does not hold the last release: check it out, or make it with --record`, { cause })
  }
}

/** Keeps a release in place of the last one. */
export const keepRelease = async (files, version) => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const names = ["client", "domain"].map((name) => `coffer-${name}-${version}.tgz`)
  for (const name of names) await writeFile(join(folder, name), files[name])
  const vitest = fileURLToPath(new URL("node_modules/vitest/vitest.mjs", root))
  await promisify(execFile)(process.execPath, [vitest, "run", "--project", "client", "Releases.long"], {
    cwd: fileURLToPath(root),
    env: { ...process.env, COFFER_RECORD_RELEASE: "1", COFFER_TIER: "long" }
  })
}
