/**
 * Changes the code that decides, one place at a time, and runs the tests of that place: a change that no test notices is listed.
 * `npm run test:mutation -- [PART…]` runs the parts of the table in parts.mjs, or those whose names begin so. It fails if a part's
 * score is below its limit, if a survivor is not in survivors.mjs, or if an entry there does not survive any more.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"
import { relative } from "node:path"
import { tools } from "../test-tools.mjs"
import { parts } from "./parts.mjs"
import { survivors } from "./survivors.mjs"

// The package is an ES module.
const { Stryker } = await import(pathToFileURL(tools.resolve("@stryker-mutator/core")).href)

const sources = fileURLToPath(new URL("../../packages/server/src/", import.meta.url))
const wanted = process.argv.slice(2)
const names = Object.keys(parts).filter((name) => wanted.length === 0 || wanted.some((one) => name.startsWith(one)))
if (names.length === 0) {
  process.stderr.write(`test:mutation: no such part. The parts are: ${Object.keys(parts).join(", ")}\n`)
  process.exit(2)
}

const run = (name) => {
  process.env.COFFER_MUTATED = name
  return new Stryker({
    mutate: parts[name].files.map((file) => `packages/server/src/${file}`),
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutation/vitest.config.mjs", related: false },
    concurrency: 2,
    // A loop without an end is noticed by its count. A busy machine is only slow.
    timeoutMS: 60_000,
    // Texts: messages, names of spans and SQL. The tests of the API compare them.
    mutator: { excludedMutations: ["StringLiteral"] },
    tempDirName: ".cache/mutation/sandbox",
    ignorePatterns: [
      ".cache",
      "release",
      "packages/{cli,mcp,console}/dist",
      "packages/{console,client-effect4}/node_modules"
    ],
    reporters: ["progress-append-only", "html"],
    htmlReporter: { fileName: `.cache/mutation/${name.replaceAll("/", "-")}.html` },
    logLevel: "error",
    disableTypeChecks: false,
    warnings: false
  }).runMutationTest()
}

/** The lines of the sources as they were when the run began: they may change before it ends. */
const linesBefore = new Map()
const linesOf = (file) => {
  const known = linesBefore.get(file) ?? readFileSync(file, "utf8").split("\n")
  linesBefore.set(file, known)
  return known
}

/** A mutant as survivors.mjs names it: the code, and its replacement, each on one line. Lines and columns count from 1. */
const described = ({ fileName, location: { start, end }, replacement }) => {
  const lines = linesOf(fileName).slice(start.line - 1, end.line)
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1)
  const onOneLine = (text) => text.replace(/\s+/g, " ")
  const code = onOneLine(lines.join("\n").slice(start.column - 1))
  return { file: relative(sources, fileName), code, mutant: onOneLine(replacement) }
}
const keyOf = ({ code, file, mutant }) => JSON.stringify([file, code, mutant])
const explained = new Set(survivors.map(keyOf))

let isGreen = true
const fail = (text) => {
  isGreen = false
  process.stdout.write(`${text}\n`)
}

for (const name of names) {
  const start = Date.now()
  const results = (await run(name)).filter(
    ({ status }) => !["Ignored", "CompileError", "RuntimeError"].includes(status)
  )
  const alive = results
    .filter(({ status }) => status === "Survived" || status === "NoCoverage")
    .map((mutant) => ({ line: mutant.location.start.line, ...described(mutant) }))
  const files = new Set(results.map(({ fileName }) => relative(sources, fileName)))
  const score = (100 * (results.length - alive.length)) / results.length
  const minutes = ((Date.now() - start) / 60_000).toFixed(1)
  process.stdout.write(
    `\n${name}: ${score.toFixed(1)} % of ${results.length} mutants, ${alive.length} survive (${minutes} minutes)\n`
  )
  if (score < parts[name].score) fail(`below the limit of ${parts[name].score} %`)
  for (const one of alive.filter((mutant) => !explained.has(keyOf(mutant)))) {
    const { line, ...entry } = one
    fail(`survives at line ${line}: ${JSON.stringify({ ...entry, reason: "" })}`)
  }
  const keys = new Set(alive.map(keyOf))
  for (const one of survivors.filter((entry) => files.has(entry.file) && !keys.has(keyOf(entry)))) {
    fail(`does not survive, so strike it out of survivors.mjs: ${keyOf(one)}`)
  }
}
process.exitCode = isGreen ? 0 : 1
