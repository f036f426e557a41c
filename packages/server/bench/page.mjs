/**
 * Writes the figures of runs into docs/performance.md, between its markers:
 *
 *     node packages/server/bench/page.mjs bench.json [MORE.json]...
 *
 * If a row is in several files, the last one counts.
 */
import { readFileSync, writeFileSync } from "node:fs"

const page = new URL("../../../docs/performance.md", import.meta.url)
const read = (path) => JSON.parse(readFileSync(path, "utf8"))
const files = process.argv.slice(2).map(read)
if (files.length === 0) throw new Error("name the JSON file of a run")

const found = new Map()
for (const { results } of files) {
  for (const result of results) found.set(`${result.row} / ${result.against}`, result)
}

/** Reduces the many pages of the audit log to the slowest of each kind of log. */
const slowest = (prefix) => {
  const pages = [...found.entries()].filter(([, { row }]) => row.startsWith(prefix))
  for (const [name] of pages) found.delete(name)
  const worst = pages.map(([, result]) => result).sort((a, b) => b.ratio - a.ratio)[0]
  return worst === undefined ? [] : [{ ...worst, row: `${worst.row} (the slowest of ${pages.length})` }]
}
const audit = ["audit, one log", "audit, all logs"].flatMap(slowest)

const cells = ({ against, atLeast, measured, ratio, row, target }) => {
  const good = target === undefined || (atLeast ? ratio >= target : ratio <= target)
  const bound = target === undefined ? "" : `${atLeast ? "≥" : "≤"} ${target}`
  const now = `${ratio.toFixed(2)}${good ? "" : " (missed)"}`
  return [row, against, bound, now, measured]
}

const columns = ["row", "against", "target", "ratio", "measured"]
const lines = [columns, columns.map(() => "---"), ...[...found.values(), ...audit].map(cells)]
const table = lines.map((line) => `| ${line.join(" | ")} |`).join("\n")
const { cpu, memory, node, pinning, system, versions } = files.at(-1).machine
const machine = [
  `Measured on ${cpu}, ${memory}, ${system}, Node ${node}; ${pinning}. Versions:`,
  `${Object.entries(versions)
    .map(([name, version]) => `\`${name}\` ${version}`)
    .join(", ")}.`
].join(" ")

const marks = /(<!-- figures: .*? -->)[\s\S]*?(<!-- end of figures -->)/
writeFileSync(
  page,
  readFileSync(page, "utf8").replace(marks, (_, begin, end) => `${begin}\n\n${machine}\n\n${table}\n\n${end}`)
)
