/**
 * The parts of a release that the tests keep. For neighboring releases: its packages for applications and its client, with
 * its server's responses to them. For all later ones: databases that its server filled. See docs/testing.md.
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

const from = { COFFER_RECORD_FROM: fileURLToPath(root) }
const recordings = [
  { project: "client", suite: "releases/Releases.long", variables: { COFFER_RECORD_RELEASE: "1" } },
  { project: "cli", suite: "releases/Releases.long", variables: from },
  { project: "server", suite: "upgrades/Upgrades.long", variables: from },
  { project: "postgres", suite: "upgrades/Upgrades.long", variables: from }
]

const record = (project, suite, variables) =>
  promisify(execFile)(
    process.execPath,
    [fileURLToPath(new URL("node_modules/vitest/vitest.mjs", root)), "run", "--project", project, suite],
    { cwd: fileURLToPath(root), env: { ...process.env, ...variables, COFFER_TIER: "long" } }
  )

/** Keeps a release in place of the last one. */
export const keepRelease = async (files, version) => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const names = ["client", "domain"].map((name) => `coffer-${name}-${version}.tgz`)
  for (const name of names) await writeFile(join(folder, name), files[name])
  for (const { project, suite, variables } of recordings) await record(project, suite, variables)
}
