/**
 * Writes the figures of runs into docs/internals/benchmarks.md and docs/performance.md, between their markers, and draws
 * docs/pictures/capacity.svg:
 *
 *     node packages/server/bench/page.mjs bench.json [MORE.json]...
 *
 * If a row is in several files, the last one counts. Rows that were measured with other programs than this working tree's are left
 * out.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { capacityPicture } from "./support/capacity-picture.mjs"
import { currentVersion, rowsOf } from "./support/version.mjs"

const figuresPage = new URL("../../../docs/internals/benchmarks.md", import.meta.url)
const picture = new URL("../../../docs/pictures/capacity.svg", import.meta.url)
const capacityPage = new URL("../../../docs/performance.md", import.meta.url)
const read = (path) => JSON.parse(readFileSync(path, "utf8"))
const files = process.argv.slice(2).map(read)
if (files.length === 0) throw new Error("name the JSON file of a run")

const current = currentVersion()
const found = rowsOf(files, current.digest)
if (found.length === 0)
  throw new Error(`no row was measured with the programs of ${current.commit}: run the bench again`)

/** Reduces the many pages of the audit log to the slowest of each kind of log. */
const pages = ["audit, one log", "audit, all logs", "PostgreSQL, audit, one log", "PostgreSQL, audit, all logs"]
const kindOfPage = ({ row }) => pages.find((prefix) => row.startsWith(prefix))
const slowest = pages.flatMap((prefix) => {
  const all = found.filter((result) => kindOfPage(result) === prefix)
  const [worst] = all.sort((a, b) => b.ratio - a.ratio)
  return worst === undefined ? [] : [{ ...worst, row: `${worst.row} (the slowest of ${all.length})` }]
})

/** The counted figures of each kind of request, which stand beside the rows of that kind. */
const counted = new Map(found.flatMap(({ counted, kind }) => (counted === undefined ? [] : [[kind, counted]])))
const formatCounted = ({ allocated, commits, statements, steps, trips, walBytes }) =>
  [
    ...(steps === undefined ? [] : [`${steps.toFixed(0)} steps`]),
    ...(statements === undefined ? [] : [`${Number(statements.toFixed(1))} statements`]),
    ...(trips === undefined ? [] : [`${Number(trips.toFixed(1))} round trips`]),
    ...(commits === undefined ? [] : [`${Number(commits.toFixed(3))} commits`]),
    ...(walBytes === undefined ? [] : [`${(walBytes / 1000).toFixed(1)} KB of log`]),
    ...(allocated === undefined ? [] : [`${allocated.toFixed(0)} KB allocated`])
  ].join(", ")

const cells = ({ against, atLeast, kind, measured, ratio, row, target }) => {
  const good = target === undefined || (atLeast ? ratio >= target : ratio <= target)
  const bound = target === undefined ? "" : `${atLeast ? "≥" : "≤"} ${target}`
  const figure = ratio.toFixed(ratio < 100 ? 2 : 0)
  const beside = counted.get(kind)
  return [
    row,
    against,
    bound,
    `${figure}${good ? "" : " (missed)"}`,
    measured,
    beside === undefined ? "" : formatCounted(beside)
  ]
}

const tableOf = ([columns, ...rows]) =>
  [columns, columns.map(() => "---"), ...rows].map((line) => `| ${line.join(" | ")} |`).join("\n")

// Counted figures stand beside the loads of their kind of request.
const loads = found.filter((result) => result.counted?.steps === undefined)
const rows = [...loads.filter((result) => kindOfPage(result) === undefined), ...slowest]
const columns = ["row", "against", "target", "ratio", "measured", "counted, for each request"]
const table = tableOf([columns, ...rows.map(cells)])

const stepRows = found.filter((result) => result.counted?.steps !== undefined)
const steps = stepRows
  .filter(({ target }) => target !== undefined)
  .map(({ kind, ratio, target }) => `${kind} ${ratio.toFixed(0)} of ${target}${ratio > target ? " (missed)" : ""}`)
const goals = steps.length === 0 ? "" : `Fiber steps, of the goal: ${steps.join(", ")}.\n\n`

const days = [...new Set(found.map(({ measuredAt }) => measuredAt.slice(0, 10)))].sort()
const { cpu, memory, node, pinning, system } = files.at(-1).machine
const versions = Object.assign({}, ...files.map(({ machine }) => machine.versions))
const machine = [
  `Version ${current.version} (commit ${current.commit} of ${current.date}), measured on ${days.join(", ")}: ${cpu}, ${memory},`,
  `${system}, Node ${node}; ${pinning}.`,
  `${Object.entries(versions)
    .map(([name, version]) => `\`${name}\` ${version}`)
    .join(", ")}.`
].join(" ")

/** The capacity of one core, by the processor time of each kind of request. */
const capacity = found.flatMap(({ cost }) => {
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

const write = (page, name, text) => writeFileSync(page, between(name, text, readFileSync(page, "utf8")))
write(figuresPage, "figures", `${machine}\n\n${goals}${table}`)
if (capacity.length > 0) write(capacityPage, "capacity", capacityTable)

/** The kinds of the picture, with the row that has the processor time of each on SQLite. */
const drawn = [
  ["read", "secret read", "reads"],
  ["bundle of 100", "bundle of 100", "bundles of 100"],
  ["write", "secret write", "writes"]
].flatMap(([kind, row, name]) => {
  const measured = found.find((one) => one.row === row && one.against === "hand-written server")?.measured
  const cost = found.find((one) => one.cost?.kind === kind)?.cost
  const micros = Number(/^([\d,]+) µs/.exec(measured ?? "")?.[1]?.replaceAll(",", ""))
  return cost === undefined || Number.isNaN(micros)
    ? []
    : [{ kind: name, sqlite: 1e6 / micros, postgres: 1e6 / cost.server }]
})
if (drawn.length === 3) writeFileSync(picture, capacityPicture(drawn))
