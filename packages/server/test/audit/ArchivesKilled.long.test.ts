import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { SecretKey } from "@coffer/domain/base/Names"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { freshSettings, readObject } from "../backups/Endpoint.js"
import { everythingAt } from "../model/Support.js"
import { masterKey } from "../support/Invariants.js"
import { freshPath, invariants } from "../support/Services.js"
import { newOrganization, write } from "../trail/Support.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
const kills = isSoak ? 60 : 4
const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** 12,000 entries, so that an archive is made three times and its entries leave in sixty steps. */
const filled = Effect.gen(function* () {
  const path = yield* freshPath
  const log = yield* Effect.gen(function* () {
    const log = yield* newOrganization("acme")
    const happenings = Array.from({ length: 400 }, (_, n) => ({
      action: "secret.set" as const,
      metadata: { project: "web", env: "prod", key: SecretKey.make(`KEY_${n % 11}`) }
    }))
    for (let n = 0; n < 30; n++) yield* write(log.id, ...happenings)
    return log
  }).pipe(Effect.provide(everythingAt(path)))
  return { path, log: log.id }
})

const onFile = <A>(path: string, use: (database: Sqlite.Database) => A): A => {
  const database = new Sqlite(path, { readonly: true })
  try {
    return use(database)
  } finally {
    database.close()
  }
}

interface ArchiveRow {
  readonly name: string
  readonly first_seq: number
  readonly last_seq: number
}

/** The archives that count, and the numbers of the entries that the database has. */
const kept = (path: string, log: string) =>
  onFile(path, (database) => ({
    archives: database
      .prepare<[string], ArchiveRow>(
        "SELECT name, first_seq, last_seq FROM audit_archives WHERE log = ? ORDER BY first_seq"
      )
      .all(log),
    entries: database
      .prepare<[string], number>("SELECT seq FROM audit_entries WHERE log = ? ORDER BY seq")
      .pluck()
      .all(log)
  }))

const command = (path: string, store: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  spawn(process.execPath, [bin, "audit", ...args], {
    cwd: dirname(path),
    env: {
      PATH: process.env["PATH"],
      SMTP_HOST: "log",
      SERVICE_MASTER_KEY: masterKey,
      SERVICE_DB_PATH: path,
      ...store
    },
    stdio: ["ignore", "pipe", "pipe"]
  })

const finished = async (child: ReturnType<typeof command>) => {
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (said += piece.toString()))
  const [code] = (await once(child, "close")) as [number | null]
  return { code, said }
}

const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString().slice(0, 10)

/** The numbers of the entries in a file of an archive. */
const numbersIn = (content: Uint8Array): ReadonlyArray<number> =>
  gunzipSync(content)
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .slice(1, -1)
    .map((line) => (JSON.parse(line) as { readonly seq: number }).seq)

/** Archives a log with kills in between, then to its end, and checks that each entry is in one place or in both, and none is lost. */
const archivedThroughKills = (store: Readonly<Record<string, string>>, read: (name: string) => Promise<Uint8Array>) =>
  Effect.gen(function* () {
    const { log, path } = yield* filled
    const all = kept(path, log).entries
    let inTheMiddle = 0
    const check = async (round: string) => {
      const { archives, entries } = kept(path, log)
      const archived = new Set<number>()
      let next = 1
      for (const { first_seq, last_seq, name } of archives) {
        assert.strictEqual(first_seq, next, `${round}: archives follow each other`)
        next = last_seq + 1
        const numbers = numbersIn(await read(name))
        assert.deepStrictEqual(
          [numbers[0], numbers.at(-1), numbers.length],
          [first_seq, last_seq, next - first_seq],
          round
        )
        for (const seq of numbers) archived.add(seq)
      }
      const there = new Set(entries)
      for (const seq of all) assert.isTrue(archived.has(seq) || there.has(seq), `${round}: entry ${seq}`)
      if (archives.length > 0 && entries.some((seq) => archived.has(seq))) inTheMiddle++
    }
    yield* Effect.promise(async () => {
      for (let round = 1; round <= kills && kept(path, log).entries.length > 1; round++) {
        const child = command(path, store, "archive", "--before", tomorrow)
        const ended = once(child, "close")
        const before = kept(path, log)
        const deadline = Date.now() + 20_000
        // Each round dies at another point: while a file is made, after its row, or while its entries leave.
        for (;;) {
          const now = kept(path, log)
          const isDue =
            round % 3 === 0
              ? now.archives.length > before.archives.length
              : round % 3 === 1
                ? now.entries.length < before.entries.length
                : Date.now() > deadline - 18_500
          if (isDue || Date.now() > deadline || child.exitCode !== null) break
          await pause(2)
        }
        child.kill("SIGKILL")
        await ended
        await check(`round ${round}`)
      }
    })
    yield* invariants(path)
    const last = yield* Effect.promise(() => finished(command(path, store, "archive", "--before", tomorrow)))
    assert.strictEqual(last.code, 0, last.said)
    yield* Effect.promise(() => check("at the end"))
    assert.isAtMost(kept(path, log).entries.length, 1)
    const verified = yield* Effect.promise(() => finished(command(path, store, "verify")))
    assert.strictEqual(verified.code, 0, verified.said)
    assert.match(verified.said, /the audit logs are whole/)
    assert.isAbove(inTheMiddle, 0, "a kill left entries that an archive has too")
    yield* invariants(path)
  })

describe("archiving the audit log, killed at any moment", () => {
  it.scopedLive(
    `loses no entry, and is completed by the next run: a folder, ${kills} kills`,
    () =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-archives-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
        )
        yield* archivedThroughKills({ BACKUP_DIR: folder }, (name) => readFile(join(folder, name)))
      }),
    600_000
  )

  it.scopedLive(
    `loses no entry, and is completed by the next run: an object store, ${kills} kills`,
    () => {
      const settings = freshSettings()
      return archivedThroughKills(settings, (name) => readObject(`${settings.BACKUP_S3_PREFIX}${name}`))
    },
    600_000
  )
})
