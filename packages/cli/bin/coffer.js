#!/usr/bin/env node
// Node's default for SIGUSR1 opens its debugger, in a process that holds secrets.
process.on("SIGUSR1", () => {})

const { existsSync } = require("node:fs")
const { join } = require("node:path")

// Not a module: the first import() of a process is slow.
const build = join(__dirname, "../dist/bundle/main.cjs")
if (existsSync(build)) {
  require(build)
} else {
  process.stderr.write("coffer: the build is missing; run `npm run build` in the repository\n")
  process.exitCode = 1
}
