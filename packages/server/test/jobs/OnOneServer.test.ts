import { Database } from "@coffer/server/database/Database"
import { onOneServer } from "@coffer/server/database/jobs/OnOneServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { logged } from "../support/Logged.js"
import { onDatabase } from "../support/Services.js"
import { rows, shared } from "./Support.js"

const job = { name: "stream", lease: "1 minute" } as const

/** Work that notes when it begins and ends on which server. */
const noted = (seen: Array<string>, server: string) =>
  Layer.scopedDiscard(
    Effect.acquireRelease(
      Effect.sync(() => seen.push(`${server} begins`)),
      () =>
        Effect.delay(
          Effect.sync(() => seen.push(`${server} ends`)),
          "50 millis"
        )
    )
  )

/** Starts one more server. Returns how to end it in order. */
const start = (seen: Array<string>, server: string, check: Effect.Effect<void, string> = Effect.void) =>
  Effect.gen(function* () {
    const scope = yield* Effect.acquireRelease(Scope.make(), (made) => Scope.close(made, Exit.void))
    yield* Layer.buildWithScope(Layer.fresh(onOneServer(job, noted(seen, server), check)), scope)
    return { end: Scope.close(scope, Exit.void) } as const
  })

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.zipRight(Effect.sleep("10 millis"), until(holds))))

describe("work that one server does at a time", () => {
  it.live("goes over to another one as soon as the first has ended it", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const one = yield* start(seen, "one")
      yield* until(() => seen.length === 1)
      const two = yield* start(seen, "two")
      yield* Effect.sleep("2500 millis")
      assert.deepStrictEqual(seen, ["one begins"])
      yield* one.end
      yield* until(() => seen.length === 3)
      assert.deepStrictEqual(seen, ["one begins", "one ends", "two begins"])
      yield* two.end
      assert.strictEqual(seen.at(-1), "two ends")
      assert.deepStrictEqual(
        (yield* rows).map(({ token }) => token),
        [2]
      )
    }).pipe(Effect.scoped, Effect.provide(shared), onDatabase())
  )

  it.live("that could never be done fails the start of every server", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      yield* start(seen, "one")
      yield* until(() => seen.length === 1)
      assert.strictEqual(yield* Effect.flip(start(seen, "two", Effect.fail("no such file"))), "no such file")
    }).pipe(Effect.scoped, Effect.provide(shared), onDatabase())
  )

  it.live("that fails is logged and tried again", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      let tries = 0
      const failing = Layer.effectDiscard(Effect.suspend(() => (++tries === 1 ? Effect.fail("broken") : Effect.void)))
      yield* Layer.build(Layer.fresh(onOneServer(job, failing, Effect.void)))
      yield* until(() => tries === 2)
      assert.include(lines.join("\n"), "ERROR the job stream failed")
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(shared, layer)), onDatabase())
  })

  it.live("is a part of the server where there is only one", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const one = yield* start(seen, "one", Effect.fail("not asked"))
      assert.deepStrictEqual(seen, ["one begins"])
      yield* one.end
      assert.deepStrictEqual(seen, ["one begins", "one ends"])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.effect(
          Database,
          Effect.map(Database, (database) => Database.of({ ...database, isShared: false }))
        )
      ),
      onDatabase()
    )
  )
})
