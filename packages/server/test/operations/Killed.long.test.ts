import { makeKeyring } from "@coffer/server/keys/Keyring"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { afterAll } from "vitest"
import { cleanUp, masterKey, Program } from "../support/Program.js"
import { invariants, rawAt } from "../support/Services.js"
import { type StoredVersion, storedVersions, valueOf } from "../support/StoredVersions.js"
import { type Found, Ledger } from "./Ledger.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

const rounds = isSoak ? 20 : 3
const writers = 8

afterAll(() => {
  cleanUp()
})

/** Every version in the database, decrypted; and each has exactly one audit entry. */
const readAll = (path: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const db = yield* rawAt(path, { readonly: true })
      const keyring = yield* makeKeyring(Redacted.make(masterKey))
      const rows = db.prepare<[], StoredVersion>(storedVersions).all()
      const entries = db
        .prepare(
          `SELECT resource_id || ' ' || json_extract(metadata, '$.version') FROM audit_entries
            WHERE action = 'secret.set' ORDER BY 1`
        )
        .pluck()
        .all()
      assert.deepStrictEqual(entries, rows.map(({ secret_id, version }) => `${secret_id} ${version}`).sort())
      const removals = db
        .prepare("SELECT resource_id FROM audit_entries WHERE action = 'secret.delete' ORDER BY 1")
        .pluck()
        .all()
      const removed = db.prepare("SELECT id FROM secrets WHERE removed_at IS NOT NULL ORDER BY 1").pluck().all()
      assert.deepStrictEqual(removals, removed)
      return yield* Effect.forEach(rows, (row) =>
        Effect.map(valueOf(keyring, row), (value): Found => {
          const { key, removed_at, version } = row
          return { key, version, value, removed: removed_at !== null }
        })
      )
    })
  )

describe("a server killed at a random moment under eight writers", () => {
  it.live(
    `has lost nothing that it acknowledged, and left nothing half-done, ${rounds} times`,
    () =>
      Effect.gen(function* () {
        const first = yield* Effect.promise(async () => {
          const server = await Program.start()
          const token = await server.login("ada@example.com")
          for (const [path, name] of [
            ["/api/orgs", "acme"],
            ["/api/orgs/acme/projects", "webshop"]
          ] as const) {
            assert.strictEqual((await server.call("POST", path, { token, body: { name } })).status, 201)
          }
          return { server, token }
        })
        const { token } = first
        const ledger = new Ledger()
        let server = first.server
        for (let round = 0; round < rounds; round++) {
          const before = ledger.sent.length
          const millis = Math.floor(Math.random() * 700)
          yield* Effect.promise(async () => {
            const writing = Array.from({ length: writers }, (_, n) => ledger.write(server, token, n))
            const random = async () => {
              // A busy machine takes its time for the first writes.
              while (
                ledger.sent.length <= before + writers ||
                !ledger.removals.some(({ acknowledged }) => acknowledged)
              )
                await new Promise((resolve) => setTimeout(resolve, 5))
              await new Promise((resolve) => setTimeout(resolve, millis))
            }
            await Promise.race([Promise.all(writing), random()])
            server.signal("SIGKILL")
            await Promise.all([...writing, server.ended])
          })
          const path = server.file()
          yield* invariants(path, masterKey)
          ledger.check(yield* readAll(path))
          const sent = ledger.sent.slice(before)
          assert.isTrue(
            sent.some(({ acknowledged }) => acknowledged === null),
            "some were in flight"
          )
          server = yield* Effect.promise(() => Program.start({}, server.folder))
        }
        yield* Effect.promise(() => server.stop())
        yield* invariants(server.file(), masterKey)
      }),
    240_000
  )
})
