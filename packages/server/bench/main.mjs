/**
 * Coffer's benchmarks, each with a reference and a target. Every figure is a ratio of two alternating measurements in one
 * run, because absolute times differ between machines.
 *
 *     npm run bench -- [--quick] [--only ROW]... [--json FILE] [--record] [--openbao PATH] [--scale PART]
 *                       [--entries NUMBER]
 *
 * --quick takes under two minutes, skips rows with large data or without a target, and fails (exit code 1) only if a ratio
 * is worse than half of its target, or if a request takes 3 % more fiber steps than `last.json` records, or twice the
 * processor time, as a ratio to the hand-written server's. A whole run writes that file; --record writes its rows that were measured. Without --quick,
 * the run fails if a target is missed. --openbao names a built OpenBao, to compare with it. --scale is the part of 10
 * million secrets and 100 million audit entries that the row `postgres-scale` loads: a tenth by default. --entries is the number
 * of audit entries of the rows `audit` and `verify`: a million by default.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { describe, keepToLoadCore } from "./support/machine.mjs"
import { costs, findRegressions, merge } from "./support/regressions.mjs"
import { print } from "./support/table.mjs"
import { rows as audit } from "./rows/audit.mjs"
import { rows as auditEntry } from "./rows/audit-entry.mjs"
import { rows as backup } from "./rows/backup.mjs"
import { rows as broker } from "./rows/broker.mjs"
import { rows as webConsole } from "./rows/console.mjs"
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
import { rows as steps } from "./rows/steps.mjs"
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
  ...reads,
  ...references,
  ...rules,
  ...steps,
  ...audit,
  ...verify,
  ...auditEntry,
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
const pace = options.quick ? { rounds: 4, seconds: 0.3, warmUp: 1 } : { rounds: 30, seconds: 0.5, warmUp: 4 }
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
const isRecorded = (row) => Object.values(recorded).some((costs) => costs[row] !== undefined)
const isMissed = ({ atLeast, patience = 1, ratio, row, target, watched = true }) =>
  target !== undefined &&
  (!options.quick || (watched && !isRecorded(row))) &&
  !(atLeast ? ratio >= target / slack : ratio <= target * slack * patience)
const better = (one, other) => (one.ratio > other.ratio === Boolean(one.atLeast) ? one : other)

keepToLoadCore()
const results = []
const slower = []
const machine = describe()
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
    results.push(...found)
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

if (options.record || (!options.quick && options.only === undefined)) {
  writeFileSync(lastFile, `${JSON.stringify(merge(recorded, costs(results)), null, 2)}\n`)
}

const units = { steps: "fiber steps", processor: "times the processor time of the hand-written server" }
for (const { before, cost, kind, row } of slower) {
  process.stderr.write(`${row}: ${cost.toFixed(2)} ${units[kind]}, recorded was ${before.toFixed(2)}\n`)
}
const missed = results.filter(isMissed)
for (const { against, ratio, row, target } of missed) {
  process.stderr.write(`${row} against ${against}: ${ratio.toFixed(2)}, where the target is ${target}\n`)
}
if (missed.length + slower.length > 0) process.exitCode = 1
