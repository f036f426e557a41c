/**
 * Soak test: a long mixed load of reads, writes, bundles, the audit log, logins by mail and a backup every minute. Checks
 * each response against what was written, and at the end the growth of the memory, of the open files and of the tables, and the
 * integrity of the database.
 *
 *     npm run soak -- [--minutes 10] [--json FILE]
 *
 * Exit code 1 if anything failed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { faultsOf, rowsOf } from "./soak/check.mjs"
import { trafficOf, valueOf } from "./soak/traffic.mjs"
import { ask, settle, startCoffer } from "./support/coffer.mjs"
import { describe, keepToLoadCore } from "./support/machine.mjs"
import { startMail } from "./support/mail.mjs"
import { startStore } from "./support/store.mjs"

const { values: options } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, json: { type: "string", default: "soak.json" } }
})
const millis = Number(options.minutes) * 60_000
const maxGrowth = 10
/** Connections come and go, so the numbers of open files differ a little. */
const maxMoreFiles = 20
/** The rows that a table may gain after the warm-up: sessions, codes and jobs that are removed by the hour. */
const maxMoreRows = 5_000
/** The tables that keep what was done: the log with its index, the versions, those who signed up, and the backups. */
const keeps = /^(audit_|secret_|users$|backups$)/

keepToLoadCore()
const root = mkdtempSync(join(tmpdir(), "coffer-soak-"))
const folder = join(root, "server")
mkdirSync(folder, { mode: 0o700 })
const mail = await startMail()
const store = await startStore(join(root, "store"))
const owner = "ada@example.com"
const server = await startCoffer(folder, {
  env: { ...mail.env, ...store.env, SUPERADMIN_EMAIL_0: owner, SERVICE_SIGNUP: "open" }
})

const scene = await settle(server, { owner, code: mail.code, value: (key) => valueOf(key, 1) })
const written = new Map(scene.keys.map((key) => [key, 1]))
const done = { reads: 0, writes: 0, bundleWrites: 0, bundles: 0, polls: 0, auditPages: 0, logins: 0, backups: 0 }
const failures = []
const traffic = trafficOf({ backupMillis: Math.min(60_000, millis / 4), done, mail, scene, server, written })

const end = performance.now() + millis
const runs = Object.entries(traffic).flatMap(([name, loops]) =>
  loops.map(async (loop) => {
    while (performance.now() < end) {
      await loop().catch((error) => {
        failures.push(`${name}: ${error.message}`)
        return sleep(100)
      })
    }
  })
)

const told = ({ heap, resident }) => `${resident.toFixed(1)} MiB, ${heap.toFixed(1)} of them JavaScript's`
const memory = []
const files = []
const sample = async () => {
  memory.push(await server.settledMemory())
  files.push(server.files())
  const counts = Object.entries(done).map(([name, count]) => `${count} ${name}`)
  process.stdout.write(
    `${told(memory.at(-1))}, ${files.at(-1)} files, ${failures.length} failures: ${counts.join(", ")}\n`
  )
}
// The first third is warm-up.
await sleep(millis / 3)
const before = rowsOf(folder)
while (performance.now() < end) {
  await sample()
  await sleep(Math.min(30_000, millis / 6, Math.max(0, end - performance.now())))
}
await Promise.all(runs)
await sleep(1000)
await sample()

const chains = [
  await ask(server, "GET", `/api/orgs/${scene.org}/audit-logs/verify`, { token: scene.owner }),
  await ask(server, "GET", "/api/audit-logs/verify", { token: scene.owner })
]
for (const { body } of chains) {
  if (!body.valid) failures.push(`an audit chain is not valid from ${body.first_invalid_seq} on`)
}
const { body: kept } = await ask(server, "GET", "/api/backups", { token: scene.owner })
if (kept.data.length !== done.backups)
  failures.push(`${kept.data.length} backups are listed, ${done.backups} were made`)
const errors = server.readLog().match(/"level":"(error|fatal)".*/g) ?? []
for (const error of errors) failures.push(`in the log: ${error}`)
const grown = Object.entries(rowsOf(folder))
  .map(([table, rows]) => ({ table, before: before[table] ?? 0, rows }))
  .filter((one) => one.rows > one.before)
for (const { before: earlier, rows, table } of grown) {
  if (rows > earlier + maxMoreRows && !keeps.test(table)) failures.push(`${table} grew from ${earlier} to ${rows} rows`)
}
if (files.at(-1) > files[0] + maxMoreFiles) failures.push(`open files grew from ${files[0]} to ${files.at(-1)}`)
await server.stop()
if (server.child.exitCode !== 0) failures.push(`the server ended with ${server.child.exitCode}`)
failures.push(...faultsOf(folder, { written, ...done }))
const growth = memory.at(-1).resident - memory[0].resident
if (growth > maxGrowth) failures.push(`memory grew by ${growth.toFixed(1)} MiB`)

await Promise.all([mail.stop(), store.stop()])
rmSync(root, { recursive: true, force: true })

const report = { machine: describe(), minutes: Number(options.minutes), done, memory, growth, files, grown, failures }
writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
for (const failure of failures.slice(0, 20)) process.stderr.write(`${failure}\n`)
process.stdout.write(
  `${failures.length} failures; memory ${told(memory[0])}, then ${told(memory.at(-1))}; ` +
    `${files[0]} open files, then ${files.at(-1)}; ` +
    `rows ${grown.map(({ before: earlier, rows, table }) => `${table} ${earlier} → ${rows}`).join(", ")}; ` +
    `audit entries verified: ${chains.map(({ body }) => body.entries).join(" and ")}\n`
)
if (failures.length > 0) process.exitCode = 1
