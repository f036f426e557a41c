/** Runs a program from the scripts in the working directory, to fill their code caches. Usage: PROGRAM [ARGS…] */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { startScripts } from "./scripts.mjs"

const [program] = process.argv.splice(2, 1)

startScripts({
  program,
  textOf: (path) => readFileSync(`${path}.cjs`, "utf8"),
  cacheOf: () => undefined,
  require: createRequire(import.meta.url),
  url: import.meta.url
})
