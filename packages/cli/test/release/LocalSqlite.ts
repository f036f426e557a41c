import { root } from "../support/Documents.js"
import { must } from "./Support.js"

/** The package of this machine, with glibc. */
export const sqlite = `sqlite-linux-${process.arch}`

/** Packs the SQLite that npm compiled in this repository: the release itself compiles it for all platforms. */
export const packSqlite = (out: string) =>
  must(process.execPath, [
    "--input-type=module",
    "-e",
    `import { readFile, writeFile } from "node:fs/promises"
    import { fileNameOf, pack } from "${root}scripts/release/sqlite/packages.mjs"
    import { moduleOf } from "${root}scripts/release/sqlite/targets.mjs"
    const manifest = JSON.parse(await readFile("${root}package.json", "utf8"))
    const addon = await readFile("${root}node_modules/better-sqlite3/build/Release/better_sqlite3.node")
    const modules = { [moduleOf(process.versions.modules)]: addon }
    const tarball = await pack({ manifest, modules, name: "${sqlite}", time: 1700000000 })
    await writeFile("${out}/" + fileNameOf("${sqlite}", manifest.version), tarball)`
  ])
