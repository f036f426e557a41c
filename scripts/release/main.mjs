/**
 * `npm run release`: makes everything that is handed out, in `release/`. With `--check`, makes it a second time in another place
 * and compares the bytes; the first is kept only with `--out`. `--packages` leaves out the executables, `--libraries` all but the
 * packages for applications; `--out FOLDER` writes to another folder. A new version takes the place of the last release in the
 * tests; `--record` lets the same version do so, which is not published yet.
 */
import { createHash } from "node:crypto"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { root } from "../bundling.mjs"
import { makeLibraries, makeRelease } from "./artefacts.mjs"
import { installNode } from "./executable.mjs"
import { keepRelease, lastVersion } from "./last.mjs"
import { fingerprintOf, releaseKey, signatures } from "./signing.mjs"
import { commitOf } from "./source.mjs"
import { fileNameOf } from "./sqlite/packages.mjs"
import { targets } from "./sqlite/targets.mjs"
import { installTools } from "./sqlite/tools.mjs"
import { filesOf, time } from "./staging.mjs"
import { findNfpm } from "./system/nfpm.mjs"

const { values: options } = parseArgs({
  options: {
    check: { type: "boolean" },
    packages: { type: "boolean" },
    libraries: { type: "boolean" },
    record: { type: "boolean" },
    out: { type: "string" }
  }
})

const say = (line) => process.stdout.write(`${line}\n`)
const digest = (content) => createHash("sha256").update(content).digest("hex")

const temporary = await mkdtemp(join(tmpdir(), "coffer-release-"))

const nodeForExecutables = async () => {
  if (options.packages || options.libraries) return undefined
  const node = await installNode(join(temporary, "node"))
  if (node === undefined) {
    say(
      `no executables, no .deb and no .rpm: there is no Node 24 for ${process.platform}-${process.arch} from the registry`
    )
  }
  return node
}

const nfpmForPackages = async (node) => {
  if (node === undefined) return undefined
  const nfpm = await findNfpm()
  if (nfpm === undefined) {
    say("no .deb and no .rpm: nfpm is not on the PATH, and COFFER_NFPM does not name it")
  }
  return nfpm
}

const toolsForSqlite = async () => {
  if (options.packages || options.libraries) return undefined
  const tools = await installTools(join(temporary, "sqlite"))
  if (tools === undefined) say("no SQLite and no server as .deb and .rpm: Zig or the headers of Node cannot be had")
  return tools
}

const { version } = JSON.parse(await readFile(new URL("package.json", root), "utf8"))

const commit = () => process.env.COFFER_RELEASE_COMMIT ?? commitOf(fileURLToPath(root), version)

/** The key that signs, and the source that the statement names: both fail before anything is made. */
const signer = async () => {
  const key = options.check || options.libraries ? undefined : await releaseKey()
  return key === undefined ? undefined : { key, source: { commit: commit(), version } }
}

/** Signs what is in a folder. Signatures are random, so they are no part of what is compared. */
const signed = async (target, by) => {
  if (by === undefined) return say("unsigned: COFFER_RELEASE_KEY_FILE names no key")
  const { key, source } = by
  const sums = await readFile(join(target, "SHA256SUMS"), "utf8")
  for (const [name, content] of Object.entries(signatures(key, sums, source))) {
    await writeFile(join(target, name), content)
  }
  say(`signed by the key ${fingerprintOf(key)}`)
}

/** Says for which platforms the server has no SQLite, so that npm compiles it there. */
const sayPlatforms = (files) => {
  const lacking = Object.keys(targets).filter((name) => !(fileNameOf(name, version) in files))
  if (lacking.length === 0) return
  say(`not in this release: @coffer/${lacking.join(", @coffer/")}: see CONTRIBUTING.md, "Make a release"`)
}

/** Makes all files and writes them to a folder. */
const release = async (tools, work, target) => {
  const files = await (options.libraries ? makeLibraries(time()) : makeRelease({ ...tools, say, time: time(), work }))
  await rm(target, { recursive: true, force: true })
  for (const [path, file] of Object.entries(files)) {
    await mkdir(dirname(join(target, path)), { recursive: true })
    await writeFile(join(target, path), file)
  }
}

const size = (content) => `${(content.length / 1024 / 1024).toFixed(2)} MiB`.padStart(12)

try {
  const last = options.record ? undefined : await lastVersion()
  const by = await signer()
  const node = await nodeForExecutables()
  const tools = { node, nfpm: await nfpmForPackages(node), sqlite: await toolsForSqlite() }
  if (options.check) {
    const [first, second] = [options.out ?? join(temporary, "first"), join(temporary, "a second place")]
    await release(tools, join(temporary, "work"), first)
    Object.assign(process.env, { TZ: "Pacific/Auckland", LC_ALL: "C" })
    process.umask(0o077)
    await release(tools, `${second}.work`, second)
    const [one, two] = [await filesOf(first), await filesOf(second)]
    for (const path of [...new Set([...Object.keys(one), ...Object.keys(two)])].sort()) {
      const same = one[path] !== undefined && two[path] !== undefined && digest(one[path]) === digest(two[path])
      say(`${same ? "same  " : "DIFFERS"} ${path}`)
      if (!same) process.exitCode = 1
    }
  } else {
    const target = options.out ?? fileURLToPath(new URL("release/", root))
    await release(tools, join(temporary, "work"), target)
    if (!options.libraries) await signed(target, by)
    const files = await filesOf(target)
    for (const [path, content] of Object.entries(files).sort()) say(`${size(content)}  ${path}`)
    if (!options.libraries) sayPlatforms(files)
    if (options.out === undefined && last !== version) {
      await keepRelease(files, version)
      say(
        `releases/last of the tests and packages/server/test/fixtures hold ${version} now: commit them after the release`
      )
    }
  }
} finally {
  await rm(temporary, { recursive: true })
}
