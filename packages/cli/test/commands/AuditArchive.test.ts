import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runInProcess } from "../support/InProcess.js"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-archive-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const org = "0192f0c1-5b7e-7c3a-9d2e-000000000001"

const entryOf = (seq: number) => ({
  id: `0192f0c1-5b7e-7c3a-9d2e-${String(seq).padStart(12, "0")}`,
  ...{ seq, org_id: org, actor_type: "user", actor_id: "ada", actor_name: "ada@example.com" },
  action: seq % 2 === 0 ? "secret.read" : "secret.set",
  ...{ resource_type: "secret", resource_id: null, ip_address: "203.0.113.7" },
  metadata: JSON.stringify({ project: "web", env: "prod", ...(seq === 3 ? { keys: [{ key: "A" }] } : { key: "B" }) }),
  created_at: `2026-01-0${seq}T00:00:00.000Z`,
  chain: "0".repeat(64)
})

const archiveIn = (path: string, seqs: ReadonlyArray<number>) => {
  const header = { format: "coffer/audit-archive/1", id: "x", log: org, first_seq: 1, last_seq: 5, previous: "" }
  const trailer = { entries: 5, chain: "", mac: "" }
  const file = join(path, "audit.jsonl.gz")
  const lines = [header, ...seqs.map(entryOf), trailer].map((line) => JSON.stringify(line))
  writeFileSync(file, gzipSync(`${lines.join("\n")}\n`))
  return file
}

const search = (file: string, ...words: ReadonlyArray<string>) =>
  runInProcess(["audit", "list", "--archive", file, ...words], { PATH: process.env["PATH"] ?? "" })

const numbersOf = (file: string, ...words: ReadonlyArray<string>) =>
  Effect.map(search(file, "--json", ...words), ({ code, stderr, stdout }) => {
    assert.strictEqual(code, 0, stderr)
    const { data, pagination } = JSON.parse(stdout) as {
      data: ReadonlyArray<{ seq: number }>
      pagination?: { next_cursor: string | null }
    }
    return { seqs: data.map(({ seq }) => seq), next: pagination?.next_cursor }
  })

describe("coffer audit list --archive", () => {
  it.scoped("lists an archive newest first, page by page, without a server", () =>
    Effect.gen(function* () {
      const file = archiveIn(yield* folder, [1, 2, 3, 4, 5])
      const { stdout } = yield* search(file)
      assert.match(stdout, /ada@example\.com/)
      assert.deepStrictEqual(yield* numbersOf(file, "--limit", "2"), { seqs: [5, 4], next: "s4" })
      assert.deepStrictEqual(yield* numbersOf(file, "--limit", "3", "--after", "s4"), { seqs: [3, 2, 1], next: null })
      assert.deepStrictEqual((yield* numbersOf(file, "--all")).seqs, [5, 4, 3, 2, 1])
    })
  )

  it.scoped("filters as a server does", () =>
    Effect.gen(function* () {
      const file = archiveIn(yield* folder, [1, 2, 3, 4, 5])
      const found = (...words: ReadonlyArray<string>) => Effect.map(numbersOf(file, ...words), ({ seqs }) => seqs)
      assert.deepStrictEqual(yield* found("--action", "secret.read"), [4, 2])
      assert.deepStrictEqual(yield* found("--key", "A"), [3])
      assert.deepStrictEqual(yield* found("--actor", "Ada@example.com", "--key", "B"), [5, 4, 2, 1])
      assert.deepStrictEqual(yield* found("--project", "api"), [])
      assert.deepStrictEqual(yield* found("--since", "2026-01-02", "--until", "2026-01-04"), [3, 2])
    })
  )

  it.scoped("refuses a file that lacks entries or is no archive, and a second source", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const lacking = yield* search(archiveIn(path, [1, 2, 3]))
      assert.match(lacking.stderr, /is no archive of an audit log, or was changed/)
      assert.strictEqual(lacking.code, 1)
      const missing = yield* search(join(path, "nothing.gz"))
      assert.match(missing.stderr, /cannot read/)
      const both = yield* search(archiveIn(path, [1, 2, 3, 4, 5]), "--server")
      assert.strictEqual(both.code, 2)
    })
  )
})
