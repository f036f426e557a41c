#!/usr/bin/env node
// Node's default for SIGUSR1 opens its debugger, in a process that holds secrets.
process.on("SIGUSR1", () => {})

const { existsSync } = await import("node:fs")

const build = new URL("../dist/bundle/main.js", import.meta.url)
if (existsSync(build)) {
  await import(build.href)
} else {
  process.stderr.write("coffer-mcp: the build is missing; run `npm run build` in the repository\n")
  process.exitCode = 1
}
