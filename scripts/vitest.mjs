/**
 * Runs the tests. In a run of both tiers, up to three files that failed beside others run once more, alone: one that passes then is
 * listed as unsteady, and the run is green. Whoever wrote it finds its cause with `npm run test:steady`.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import "./test-tools.mjs"

const retried = 3
const isWhole = process.env.COFFER_TIER === "all"

const folder = mkdtempSync(join(tmpdir(), "coffer-tests-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
const report = join(folder, "report.json")

const vitest = async (...args) => {
  const child = spawn("npx", ["vitest", "run", "--no-isolate", ...args], { stdio: "inherit" })
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => child.kill(signal))
  const [code] = await once(child, "close")
  return code ?? 1
}

/** The files of the report that failed; none if the run failed for another reason, such as an error outside of a test. */
const failedFiles = () => {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"))
    return [...new Set(testResults.filter(({ status }) => status === "failed").map(({ name }) => name))]
  } catch {
    return []
  }
}

const shown = ["--reporter=default", "--reporter=./scripts/slowest-files.mjs"]
const recorded = isWhole ? ["--reporter=json", `--outputFile.json=${report}`] : []
const code = await vitest("--maxWorkers=4", "--minWorkers=4", ...shown, ...recorded, ...process.argv.slice(2))
const failed = code !== 0 && isWhole ? failedFiles() : []
if (failed.length === 0 || failed.length > retried) process.exit(code)

const names = failed.map((file) => relative(process.cwd(), file))
process.stdout.write(`\nOnce more, alone: ${names.join(", ")}\n`)
if ((await vitest("--maxWorkers=1", "--minWorkers=1", ...failed)) !== 0) process.exit(1)
process.stdout.write(
  `\nUnsteady, each failed beside the others and passed alone (their failures are above):\n${names.map((name) => `  ${name}\n`).join("")}` +
    `Find the cause: npm run test:steady -- --files ${names.join(" ")}\n`
)
