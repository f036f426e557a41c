import { existsSync, writeFileSync } from "node:fs"
import { temporaryFile } from "@coffer/server/database/sqlite/TemporaryFiles"
import { nextTick } from "@coffer/server/base/EventLoop"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { freshPath } from "../support/Services.js"

describe("a temporary file", () => {
  it.scopedLive("is removed, and whoever is interrupted meanwhile ends", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      for (let ticks = 0; ticks < 40; ticks++) {
        const written = yield* Deferred.make<string>()
        const fiber = yield* Effect.gen(function* () {
          const file = yield* temporaryFile(path, "backup")
          writeFileSync(file, "")
          yield* Deferred.succeed(written, file)
        }).pipe(Effect.scoped, Effect.zipRight(Effect.never), Effect.fork)
        const file = yield* Deferred.await(written)
        yield* Effect.replicateEffect(nextTick, ticks, { discard: true })
        const ended = yield* Effect.timeoutOption(Effect.disconnect(Fiber.interrupt(fiber)), "2 seconds")
        assert.isTrue(Option.isSome(ended), `interrupted after ${ticks} ticks`)
        assert.isFalse(existsSync(file))
      }
    })
  )
})
