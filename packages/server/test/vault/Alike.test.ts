import { Access } from "@coffer/server/access/Access"
import { assert, describe, it } from "@effect/vitest"
import { envOf } from "@coffer/server/edges/vault/VaultPlaces"
import { Effect } from "effect"
import { countingStatements } from "../support/FailingDriver.js"
import { account, asActor, grant, onDatabase, organization, outcome, person } from "../support/Services.js"

describe("another tenant's namespace", () => {
  it.effect("takes the same statements as a missing one", () =>
    Effect.gen(function* () {
      yield* person("ada@example.com")
      yield* organization("acme")
      yield* organization("other")
      const bot = yield* account("deploy")
      yield* grant(bot, "read")
      const access = yield* Access
      const read = (namespace: string) =>
        Effect.flatMap(
          envOf({ "x-vault-namespace": namespace }, { project_name: "webshop", env_name: "prod" }),
          (names) => access.env(names, "secret.read")
        ).pipe(asActor(bot))
      assert.strictEqual(yield* outcome(read("acme")), "success")
      // The first statements of a connection are prepared.
      yield* Effect.either(read("nobody"))
      const foreign = yield* countingStatements(/./, Effect.either(read("other")))
      const absent = yield* countingStatements(/./, Effect.either(read("nobody")))
      assert.strictEqual(foreign.count, absent.count)
      assert.isAbove(foreign.count, 0)
      assert.strictEqual(yield* outcome(read("other")), "NotFound")
    }).pipe(onDatabase())
  )
})
