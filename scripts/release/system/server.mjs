/** The files of the Debian and RPM packages `coffer-server`: the server with a Node of its own, and a unit for systemd. */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { root } from "../../bundling.mjs"
import { below } from "../archive.mjs"
import { documents } from "./client.mjs"
import { manualPages, systemPackages } from "./nfpm.mjs"
import { sqliteModules } from "./sqlite.mjs"

const library = "/usr/lib/coffer-server"
const launcher = "/usr/bin/coffer-server"

const own = (name) => readFile(new URL(`scripts/release/system/server/${name}`, root), "utf8")

/** A program that runs in our Node. */
const launch = (path) => ({
  content: `#!/bin/sh\nexec ${library}/bin/node ${library}/node_modules/${path} "$@"\n`,
  executable: true
})

/** The unit for systemd, with the paths of the package. */
const unit = async () => {
  const text = await readFile(new URL("deploy/coffer.service", root), "utf8")
  const start = "ExecStart=/usr/bin/node /opt/coffer/packages/server/bin/coffer-server.js\n"
  if (!text.includes(start)) throw new Error(`deploy/coffer.service has no line ${start}`)
  const head = "# From the package coffer-server. Put changes into a drop-in: systemctl edit coffer.\n"
  return text.replace(/^(#.*\n)+/, head).replace(start, `ExecStart=${launcher}\n`)
}

/** The release of GCC that brought a version of libstdc++'s symbols, GLIBCXX_3.4.N. */
const releases = { 25: 8, 26: 9, 27: 9, 28: 9, 29: 11, 30: 12, 31: 13, 32: 13, 33: 14, 34: 15 }

/** The C and C++ libraries that a compiled module needs, and at least those of Node. */
const librariesOf = (addon) => {
  const text = addon.toString("latin1")
  const newest = (pattern, least) => Math.max(least, ...[...text.matchAll(pattern)].map(([, minor]) => Number(minor)))
  const cxx = newest(/\bGLIBCXX_3\.4\.(\d+)/g, 25)
  if (releases[cxx] === undefined) throw new Error(`GLIBCXX_3.4.${cxx} is of no release of GCC that is known here`)
  return { c: `2.${newest(/\bGLIBC_2\.(\d+)/g, 28)}`, cxx: releases[cxx] }
}

/** The Node of a package from the registry, with its licence and the version of its modules. */
export const programOf = async (folder) => {
  const program = join(folder, "bin/node")
  const { stdout } = await promisify(execFile)(program, ["-p", "process.versions.modules"])
  return {
    program: await readFile(program),
    licence: await readFile(join(folder, "LICENSE")),
    abi: stdout.trim()
  }
}

/**
 * Returns the packages of the server by file name.
 *
 * @param addon the compiled module of SQLite
 * @param client the files of the npm package of the client: `coffer master-key rotate` runs beside the server
 * @param node what `programOf` returns
 * @param server the files of the npm package of the server
 */
export const serverPackages = async ({ addon, changelog, client, node, pages, server, ...common }) => {
  const { c, cxx } = librariesOf(addon)
  const modules = { ...below("coffer", client), ...below("@coffer/server", server), ...(await sqliteModules(addon)) }
  const licences = {
    LICENSE: server.LICENSE,
    "THIRD-PARTY-LICENCES.txt": server["THIRD-PARTY-LICENCES.txt"],
    "NODE-LICENCE.txt": node.licence
  }
  return systemPackages({
    ...common,
    name: "coffer-server",
    compression: "zstd",
    description: "Coffer, a secrets manager: the server",
    files: {
      [launcher]: launch("@coffer/server/bin/coffer-server.js"),
      [`${library}/bin/coffer`]: launch("coffer/cli/bin/coffer.js"),
      [`${library}/bin/node`]: { content: node.program, executable: true },
      ...below(join(library, "node_modules"), modules),
      "/usr/lib/systemd/system/coffer.service": await unit(),
      "/etc/coffer/coffer.env": { content: await own("coffer.env"), mode: 0o600, type: "config|noreplace" },
      ...manualPages(pages),
      ...documents("coffer-server", licences, changelog)
    },
    needs: {
      deb: ["passwd", `libc6 (>= ${c})`, `libstdc++6 (>= ${cxx})`, "libgcc-s1 | libgcc1"],
      rpm: ["/usr/sbin/useradd", `glibc >= ${c}`, `libstdc++ >= ${cxx}`, "libgcc"]
    },
    scripts: {
      postinstall: await own("postinst"),
      preremove: await own("prerm"),
      postremove: await own("postrm")
    }
  })
}
