import { AuditLog } from "@coffer/server/audit/AuditLog"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { everythingOnPostgres } from "../model/Support.js"
import { freshPath } from "../support/Services.js"
import { freshDatabase, onServer } from "../support/postgres/Databases.js"
import { entriesOf, newOrganization, read } from "../trail/Support.js"

describe("the entries of reads", () => {
  it.scopedLive("wait for a database that is away for a moment, and are all written", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      const admit = (may: boolean) =>
        onServer("postgres", async (client) => {
          await client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS ${may}`)
          await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name])
        })
      yield* Effect.gen(function* () {
        const { id } = yield* newOrganization("acme")
        const { flush } = yield* AuditLog
        yield* admit(false)
        yield* Effect.all([read(id), read(id), read(id)])
        const flushed = yield* Effect.fork(flush)
        yield* Effect.sleep("2 seconds")
        yield* admit(true)
        yield* Fiber.join(flushed)
        const actions = (yield* entriesOf(id)).map(({ action }) => action)
        assert.deepStrictEqual(actions.slice(1), ["secret.read", "secret.read", "secret.read"])
      }).pipe(Effect.provide(everythingOnPostgres(url, yield* freshPath)))
    })
  )
})
