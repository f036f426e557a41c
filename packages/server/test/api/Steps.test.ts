import { Email } from "@coffer/domain/base/Names"
import { EngineLive } from "@coffer/server/operations/Engine"
import { offlineSession } from "@coffer/server/operations/offline/OfflineSession"
import { serverOn } from "@coffer/server/Server"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { makeStepCounter } from "../../bench/support/steps.mjs"
import { freePort } from "../support/Port.js"
import { configAt, freshPath } from "../support/Services.js"

const quiet = { SERVICE_LOG_LEVEL: "error" }

// The bounds are a tenth above what requests take now. Fewer steps are better: lower them then.

it.scopedLive("a request takes no more steps of its fiber than it did", () =>
  Effect.gen(function* () {
    const path = yield* freshPath
    const token = yield* offlineSession(yield* Schema.decode(Email)("ada@example.com")).pipe(
      Effect.provide(configAt(path, quiet))
    )
    const port = yield* Effect.promise(freePort)
    const { begin, counting, end } = makeStepCounter()
    const config = configAt(path, { ...quiet, SERVICE_PORT: String(port) })
    yield* counting(Layer.build(serverOn(EngineLive).pipe(Layer.provide(config))))

    const ask = (method: string, target: string, body?: object) =>
      Effect.promise(async () => {
        const headers = { authorization: `Bearer ${Redacted.value(token)}`, "content-type": "application/json" }
        const response = await fetch(`http://127.0.0.1:${port}${target}`, {
          method,
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) })
        })
        assert.isBelow(response.status, 300, await response.text())
      })
    /** The fewest steps of three requests: the first prepares the statements, and any may have to wait for a turn. */
    const steps = (...call: Parameters<typeof ask>) =>
      Effect.gen(function* () {
        yield* ask(...call)
        const counts: Array<number> = []
        for (let run = 0; run < 3; run++) {
          begin()
          yield* ask(...call)
          counts.push(end().requests)
        }
        return Math.min(...counts)
      })

    yield* ask("POST", "/api/orgs", { name: "acme" })
    yield* ask("POST", "/api/orgs/acme/projects", { name: "web" })
    const secret = "/api/orgs/acme/projects/web/envs/dev/secrets/KEY"
    assert.isAtMost(yield* steps("PUT", secret, { value: "a value" }), 587, "a write")
    assert.isAtMost(yield* steps("GET", secret), 191, "a read")
    assert.isAtMost(yield* steps("GET", "/health"), 106, "an empty request")
  })
)
