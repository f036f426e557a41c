import { AuditLog } from "@coffer/server/audit/AuditLog"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { freshPath, rawAt, servicesAt } from "../support/Services.js"

describe("loss", () => {
  for (const yields of [0, 1, 2, 3, 5]) {
    it.scoped(`after ${yields} yields`, () =>
      Effect.gen(function* () {
        const path = yield* freshPath
        yield* Effect.scoped(Effect.gen(function* () {
          const built = yield* Layer.build(Layer.fresh(AuditLog.Default))
          yield* Effect.repeatN(Effect.yieldNow(), 5)
          const audit = Context.get(built, AuditLog)
          yield* audit.read(
            { actor: { type: "system", id: null, name: "x" }, orgId: null },
            { action: "secret.read", resource_type: "secret", resource_id: null }
          )
          if (yields > 0) yield* Effect.repeatN(Effect.yieldNow(), yields - 1)
        })).pipe(Effect.provide(servicesAt(path)))
        const db = yield* rawAt(path)
        assert.strictEqual(db.prepare("SELECT count(*) FROM audit_entries").pluck().get(), 1)
      })
    )
  }
})
