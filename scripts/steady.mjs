/**
 * Runs tests many times beside a busy core, and lists those that failed even once: `npm run test:steady -- [COMMIT]` runs the
 * files of tests that changed since a commit (HEAD by default, that is, what is not committed), `-- --files FILE…` these.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"

const usage = "usage: npm run test:steady -- [COMMIT] [--files FILE…] [--times 20] [--beside 1]"
const fail = (message) => {
  process.stderr.write(`test:steady: ${message}\n`)
  process.exit(2)
}

const options = {
  files: { type: "boolean", default: false },
  times: { type: "string", default: "20" },
  beside: { type: "string", default: "1" }
}
const parsed = (() => {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (cause) {
    return fail(`${cause.message}\n${usage}`)
  }
})()
const { positionals, values } = parsed
const [times, beside] = [Number(values.times), Number(values.beside)]
if (!Number.isInteger(times) || times < 1 || !Number.isInteger(beside) || beside < 0) fail(usage)
if (!values.files && positionals.length > 1) fail(usage)

const git = (...args) => {
  const { error, status, stderr, stdout } = spawnSync("git", args, { encoding: "utf8" })
  if (error !== undefined || status !== 0) fail(error?.message ?? stderr.trim())
  return stdout.split("\n").filter((line) => line !== "")
}
const isTest = (file) => /\.test\.tsx?$/.test(file)
const changed = () => [
  ...git("diff", "--name-only", "--diff-filter=d", positionals[0] ?? "HEAD"),
  ...git("ls-files", "--others", "--exclude-standard")
]
const files = values.files ? positionals : [...new Set(changed().filter(isTest))]
if (files.length === 0) {
  process.stdout.write("no file of tests changed\n")
  process.exit(0)
}

const folder = mkdtempSync(join(tmpdir(), "coffer-steady-"))
const report = join(folder, "report.json")
const busy = Array.from({ length: beside }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }))
const stop = () => {
  for (const child of busy) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
}
process.on("exit", stop)
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130))

/** How often each test has failed, and its first message. */
const failures = new Map()
const note = (name, message) => {
  const before = failures.get(name)
  failures.set(name, { count: (before?.count ?? 0) + 1, message: before?.message ?? message })
}

const args = ["vitest", "run", "--maxWorkers=2", "--minWorkers=1", "--reporter=json", `--outputFile=${report}`]
for (let run = 1; run <= times; run++) {
  const began = Date.now()
  rmSync(report, { force: true })
  const child = spawn("npx", [...args, ...files], { stdio: ["ignore", "ignore", "pipe"] })
  const said = []
  child.stderr.on("data", (piece) => said.push(piece))
  const [code] = await once(child, "close")
  let failed = 0
  try {
    for (const { assertionResults, message, name, status } of JSON.parse(readFileSync(report, "utf8")).testResults) {
      const broken = assertionResults.filter((test) => test.status === "failed")
      failed += broken.length
      for (const test of broken) note(`${name} > ${test.fullName}`, test.failureMessages[0])
      if (status === "failed" && broken.length === 0) note(name, message)
    }
  } catch {
    fail(`vitest ended with ${code} and no report:\n${Buffer.concat(said).toString()}`)
  }
  if (code !== 0 && failed === 0) note("the run", Buffer.concat(said).toString())
  const seconds = Math.round((Date.now() - began) / 1_000)
  process.stdout.write(
    `run ${run} of ${times}: ${failed === 0 && code === 0 ? "passed" : `${failed} failed`}, ${seconds} s\n`
  )
}

stop()
for (const [name, { count, message }] of failures) process.stdout.write(`\n${count} of ${times}: ${name}\n${message}\n`)
if (failures.size === 0) process.stdout.write(`${files.length} files passed ${times} times\n`)
process.exitCode = failures.size === 0 ? 0 : 1
