#!/usr/bin/env node
// Node's default for SIGUSR1 opens its debugger, in a process that holds secrets.
process.on("SIGUSR1", () => {})

const { existsSync } = await import("node:fs")
const { enableCompileCache } = await import("node:module")

// Newer versions of Node keep compiled code. Not in the shared temporary directory, which is their default: others
// could plant code there.
const { HOME, XDG_CACHE_HOME } = process.env
const cache = XDG_CACHE_HOME?.startsWith("/") ? XDG_CACHE_HOME : HOME?.startsWith("/") && `${HOME}/.cache`
if (cache) enableCompileCache?.(`${cache}/coffer/compiled`)

const build = new URL("../dist/bundle/main.js", import.meta.url)
if (existsSync(build)) {
  await import(build.href)
} else {
  process.stderr.write("coffer-mcp: the build is missing; run `npm run build` in the repository\n")
  process.exitCode = 1
}
