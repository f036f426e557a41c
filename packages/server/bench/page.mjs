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
const audit = [
  "audit, one log",
  "audit, all logs",
  "PostgreSQL, audit, one log",
  "PostgreSQL, audit, all logs"
].flatMap(slowest)

const cells = ({ against, atLeast, measured, ratio, row, target }) => {
  const good = target === undefined || (atLeast ? ratio >= target : ratio <= target)
  const bound = target === undefined ? "" : `${atLeast ? "≥" : "≤"} ${target}`
  const now = `${ratio.toFixed(2)}${good ? "" : " (missed)"}`
  return [row, against, bound, now, measured]
}

const tableOf = ([columns, ...rows]) =>
  [columns, columns.map(() => "---"), ...rows].map((line) => `| ${line.join(" | ")} |`).join("\n")

const table = tableOf([["row", "against", "target", "ratio", "measured"], ...[...found.values(), ...audit].map(cells)])
const { cpu, memory, node, pinning, system, versions } = files.at(-1).machine
const machine = [
  `Measured on ${cpu}, ${memory}, ${system}, Node ${node}; ${pinning}. Versions:`,
  `${Object.entries(versions)
    .map(([name, version]) => `\`${name}\` ${version}`)
    .join(", ")}.`
].join(" ")

/** The capacity of one core, by the processor time of each kind of request. */
const capacity = [...found.values()].flatMap(({ cost }) => {
  if (cost === undefined) return []
  const { database, kind, server } = cost
  const perSecond = (micros) => Math.round(1e6 / micros).toLocaleString("en")
  return [
    [
      kind,
      `${server.toFixed(0)} µs`,
      `${database.toFixed(0)} µs`,
      perSecond(server),
      perSecond(database),
      (server / database).toFixed(1)
    ]
  ]
})
const capacityTable = tableOf([
  [
    "request",
    "time of the server",
    "time of PostgreSQL",
    "a second for each server",
    "a second for each core of PostgreSQL",
    "servers for each core of PostgreSQL"
  ],
  ...capacity
])

/** Replaces the text between the markers of a name. */
const between = (name, text, whole) =>
  whole.replace(
    new RegExp(`(<!-- ${name}: .*? -->)[\\s\\S]*?(<!-- end of ${name} -->)`),
    (_, begin, end) => `${begin}\n\n${text}\n\n${end}`
  )

const written = between("figures", `${machine}\n\n${table}`, readFileSync(page, "utf8"))
writeFileSync(page, capacity.length === 0 ? written : between("capacity", capacityTable, written))
