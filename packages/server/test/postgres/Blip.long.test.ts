import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { everythingOnPostgres } from "../model/Support.js"
import { freshPath } from "../support/Services.js"
import { freshDatabase, onServer } from "../support/postgres/Databases.js"
import { entriesOf, newOrganization, read } from "../trail/Support.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

describe("the entries of reads", () => {
  it.scopedLive("wait for a database to come back, however long, and are all written", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      const admit = (may: boolean) =>
        onServer("postgres", async (client) => {
          await client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS ${may}`)
          await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name])
        })
      yield* Effect.gen(function* () {
        const { id } = yield* newOrganization("acme")
        yield* admit(false)
        yield* Effect.all([read(id), read(id), read(id)])
        yield* Effect.sleep(isSoak ? "15 seconds" : "2 seconds")
        yield* admit(true)
        const found = Effect.map(entriesOf(id), (entries) => entries.map(({ action }) => action))
        const actions = yield* Effect.repeat(Effect.delay(found, "50 millis"), {
          until: ({ length }) => length === 4,
          times: 200
        })
        assert.deepStrictEqual(actions.slice(1), ["secret.read", "secret.read", "secret.read"])
      }).pipe(Effect.provide(everythingOnPostgres(url, yield* freshPath)))
    })
  )
})
