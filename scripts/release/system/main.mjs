/**
 * Makes the packages for Debian and RPM systems from the files of a release without them: `main.mjs RELEASE OUT`. `--node FOLDER`
 * names the package of the Node for the server, as the release installs it, whose SQLite is in a package of the release; otherwise
 * it is the Node that runs this script, with the SQLite that is installed for it. `--program FILE` is the executable of the client: without it, there are only the server's
 * packages.
 */
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import { root } from "../../bundling.mjs"
import { filesOf, time } from "../staging.mjs"
import { clientPackages, completionNames } from "./client.mjs"
import { findNfpm } from "./nfpm.mjs"
import { programOf, serverPackages } from "./server.mjs"
import { fileNameOf } from "../sqlite/packages.mjs"
import { moduleOf } from "../sqlite/targets.mjs"
import { compiled } from "./sqlite.mjs"

const {
  positionals: [release, out],
  values: { node: given, program }
} = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string" }, program: { type: "string" } }
})

const node = given === undefined ? undefined : resolve(given)

const nfpm = await findNfpm()
if (nfpm === undefined) throw new Error("nfpm is not on the PATH, and COFFER_NFPM does not name it")

const work = await mkdtemp(join(tmpdir(), "coffer-system-"))

/** The files of a tarball, by path. */
const unpacked = async (name) => {
  const folder = join(work, name)
  await mkdir(folder)
  await promisify(execFile)("tar", ["-xzf", join(release, name), "--strip-components=1", "-C", folder])
  return filesOf(folder)
}

/** The files of one folder, by name. */
const folderOf = (files, folder) =>
  Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => dirname(path) === folder)
      .map(([path, content]) => [basename(path), content])
  )

try {
  const sums = await readFile(join(release, "SHA256SUMS"), "utf8")
  const [, version] = /^\S+ {2}coffer-server-(\d\S*)\.tgz$/m.exec(sums)
  const server = await unpacked(`coffer-server-${version}.tgz`)
  const client = await unpacked(`coffer-${version}.tgz`)
  const common = {
    changelog: server["CHANGELOG.md"],
    folder: work,
    nfpm,
    time: time(),
    version
  }
  const ours = await (node === undefined
    ? { program: await readFile(process.execPath), licence: "The licence of Node.js\n" }
    : programOf(node))
  const files = await serverPackages({
    ...common,
    addon: await (node === undefined
      ? readFile(fileURLToPath(new URL(`node_modules/better-sqlite3/${compiled}`, root)))
      : unpacked(fileNameOf(`sqlite-linux-${process.arch}`, version)).then((found) => found[moduleOf(ours.abi)])),
    client,
    node: ours,
    pages: folderOf(server, "man"),
    server
  })
  if (program !== undefined) {
    const licences = { LICENSE: client.LICENSE, "THIRD-PARTY-LICENCES.txt": client["THIRD-PARTY-LICENCES.txt"] }
    const made = { program: { content: await readFile(program), executable: true }, licences }
    const shells = Object.fromEntries(
      Object.entries(completionNames).map(([shell, name]) => [shell, client[`completions/${shell}/${name}`]])
    )
    Object.assign(files, await clientPackages({ ...common, made, pages: folderOf(client, "man"), shells }))
  }
  await mkdir(out, { recursive: true })
  for (const [name, content] of Object.entries(files)) await writeFile(join(out, name), content)
} finally {
  await rm(work, { recursive: true })
}
