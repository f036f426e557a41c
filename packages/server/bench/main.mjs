/**
 * Coffer's benchmarks, each with a reference and a target. The figure of a load is the processor time of a request, as a ratio of
 * two sides in one run, because absolute times differ between machines. Each side has turns of sustained load, alternately,
 * and each turn is charged for the work that it leaves for later.
 *
 *     npm run bench -- [--quick] [--only ROW]... [--json FILE] [--record] [--openbao PATH] [--scale PART]
 *                       [--entries NUMBER]
 *
 * --quick takes two minutes, has one short turn, and skips rows with large data or without a target. It fails (exit code 1) if what
 * is counted of a request is more than `last.json` records: fiber steps, statements and KB allocated by 3 %, bytes of the
 * write-ahead log by 15 %, commits by a quarter. Of processor times it fails only for twice the recorded ratio, and of other rows
 * for twice the target. Without --quick, a run fails if a target is missed. --record writes what was counted to
 * `last.json`, and with --quick the processor times. --openbao names a built OpenBao, to compare with it. --scale is the part of 10 million secrets and 100 million
 * audit entries that the row `postgres-scale` loads: a tenth by default. --entries is the number of audit entries of the rows
 * `audit` and `verify`: a million by default.
 *
 * COFFER_BENCH_SERVER names the folder of a built checkout of another release, whose server is measured instead.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { describe, keepToLoadCore } from "./support/machine.mjs"
import { costs, findRegressions, merge } from "./support/regressions.mjs"
import { print } from "./support/table.mjs"
import { currentVersion } from "./support/version.mjs"
import { rows as audit } from "./rows/audit.mjs"
import { rows as backup } from "./rows/backup.mjs"
import { rows as broker } from "./rows/broker.mjs"
import { rows as webConsole } from "./rows/console.mjs"
import { rows as counts } from "./rows/counts.mjs"
import { rows as fairness } from "./rows/fairness.mjs"
import { rows as openbao } from "./rows/openbao.mjs"
import { rows as memory } from "./rows/memory.mjs"
import { rows as postgres } from "./rows/postgres.mjs"
import { rows as loss } from "./rows/postgres-loss.mjs"
import { rows as scale } from "./rows/postgres-scale.mjs"
import { rows as trips } from "./rows/postgres-trips.mjs"
import { rows as reads } from "./rows/reads.mjs"
import { rows as references } from "./rows/references.mjs"
import { rows as rules } from "./rows/rules.mjs"
import { rows as startup } from "./rows/startup.mjs"
import { rows as verify } from "./rows/verify.mjs"

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    json: { type: "string", default: "bench.json" },
    record: { type: "boolean", default: false },
    openbao: { type: "string" },
    scale: { type: "string", default: "0.1" },
    entries: { type: "string", default: "1000000" },
    rounds: { type: "string" },
    seconds: { type: "string" }
  }
})

const all = [
  ...counts,
  ...reads,
  ...references,
  ...rules,
  ...audit,
  ...verify,
  ...fairness,
  ...memory,
  ...startup,
  ...backup,
  ...broker,
  ...webConsole,
  ...openbao,
  ...postgres,
  ...trips,
  ...loss,
  ...scale
]
const names = all.map(({ name }) => name)
for (const name of options.only ?? []) {
  if (!names.includes(name)) throw new Error(`no row is named ${name}: there are ${names.join(", ")}`)
}
for (const { name, needs } of all) {
  if (options.only?.includes(name) && needs !== undefined && options[needs] === undefined) {
    throw new Error(`the row ${name} needs --${needs} PATH`)
  }
}
const chosen = all.filter(
  ({ name, needs, quick }) =>
    (needs === undefined || options[needs] !== undefined) && (options.only?.includes(name) ?? (quick || !options.quick))
)

const root = mkdtempSync(join(tmpdir(), "coffer-bench-"))
const shared = new Map()
/** In seconds. The search index follows the log within five; a quick turn leaves a part of its index. */
const pace = options.quick
  ? { drain: 1.2, rounds: 1, seconds: 1, warmUp: 1 }
  : { drain: 5.5, rounds: 3, seconds: 6, warmUp: 4 }
const context = {
  quick: options.quick,
  openbao: options.openbao,
  /** The part of 10 million secrets and 100 million audit entries. */
  scale: Number(options.scale),
  /** The audit entries of the large log. */
  entries: options.quick ? 100_000 : Number(options.entries),
  pace: { ...pace, rounds: Number(options.rounds ?? pace.rounds), seconds: Number(options.seconds ?? pace.seconds) },
  /** Creates a temporary folder, removed after the run. */
  folder: (name) => mkdtempSync(join(root, `${name}-`)),
  /** Fixtures that rows share. The first row that needs one creates it. */
  share: (name, make) => {
    if (!shared.has(name)) shared.set(name, make(context))
    return shared.get(name)
  }
}

/** The costs of requests in the last recorded run. */
const lastFile = new URL("last.json", import.meta.url)
const recorded = JSON.parse(readFileSync(lastFile, "utf8"))

const slack = options.quick ? 2 : 1
/** A quick run holds a row whose cost is recorded to that alone: throughput depends on what else runs. */
const isRecorded = ({ counted, processor, row }) =>
  counted !== undefined || (processor !== undefined && recorded.processor?.[row] !== undefined)
const isMissed = ({ atLeast, patience = 1, ratio, target, watched = true, ...result }) =>
  target !== undefined &&
  (!options.quick || (watched && !isRecorded(result))) &&
  !(atLeast ? ratio >= target / slack : ratio <= target * slack * patience)
const better = (one, other) => (one.ratio > other.ratio === Boolean(one.atLeast) ? one : other)

keepToLoadCore()
const results = []
const slower = []
const machine = describe()
const version = currentVersion()
const measuredAt = new Date().toISOString()
try {
  for (const row of chosen) {
    const begun = performance.now()
    const first = await row.run(context)
    // Measure once more: with few short rounds, noise may cause a failure.
    const again = options.quick && first.some(isMissed) ? await row.run(context) : first
    const found = first.map((result, index) => better(result, again[index]))
    if (options.quick) {
      const measure = async (attempt) => costs(attempt === 0 ? found : await row.run(context))
      slower.push(...(await findRegressions(recorded, measure)))
    }
    process.stderr.write(`${row.name}: ${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
    results.push(...found.map((result) => ({ ...result, version, measuredAt })))
  }
  const database = (await shared.get("postgres"))?.postgres
  if (database !== undefined) machine.versions.PostgreSQL = database.version
} finally {
  // Servers before the database that they use, which was started before them.
  for (const made of [...shared.values()].reverse()) {
    for (const server of Object.values(await made.catch(() => ({})))) await server?.stop?.()
  }
  rmSync(root, { recursive: true, force: true })
}

print(results, machine)
writeFileSync(options.json, `${JSON.stringify({ machine, quick: options.quick, results }, null, 2)}\n`)

if (options.record) {
  const { processor, ...counted } = costs(results)
  // A short turn is dearer than a long one, and only quick runs are compared with the record.
  const found = { ...counted, processor: options.quick ? processor : {} }
  writeFileSync(lastFile, `${JSON.stringify(merge(recorded, found), null, 2)}\n`)
}

const units = {
  steps: "fiber steps",
  statements: "statements",
  commits: "commits",
  walBytes: "bytes of the write-ahead log",
  allocated: "KB allocated",
  processor: "times the processor time of the hand-written server"
}
for (const { before, cost, kind, row } of slower) {
  process.stderr.write(`${row}: ${cost.toFixed(3)} ${units[kind]}, recorded was ${before.toFixed(3)}\n`)
}
const missed = results.filter(isMissed)
for (const { against, ratio, row, target } of missed) {
  process.stderr.write(`${row} against ${against}: ${ratio.toFixed(2)}, where the target is ${target}\n`)
}
if (missed.length + slower.length > 0) process.exitCode = 1
