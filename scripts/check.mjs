/** The checks before the tests: types and lint in parallel with the build and the formatting, for machines with two cores. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import "./test-tools.mjs"

/** Runs npm scripts in sequence until one fails. Prints their output when they have ended. */
const run = async (...names) => {
  for (const name of names) {
    const child = spawn("npm", ["run", name], { stdio: ["ignore", "pipe", "pipe"] })
    const said = []
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => said.push(piece))
    const [code] = await once(child, "close")
    process.stdout.write(Buffer.concat(said))
    if (code !== 0) return false
  }
  return true
}

// CI builds before, and runs the other checks beside the tests.
if (process.env.COFFER_CHECKED !== "1") {
  const passed = await Promise.all([run("types:lint"), run("build", "lint:format")])
  if (passed.includes(false)) process.exitCode = 1
}
