import { Outbound } from "@coffer/server/base/outbound/Outbound"
import { unfenced } from "@coffer/server/database/jobs/Lease"
import { makeAutomaticPushes } from "@coffer/server/secrets/delivery/AutomaticPushes"
import { makePlatformCalls } from "@coffer/server/secrets/delivery/PlatformCalls"
import { targetsRepo } from "@coffer/server/secrets/delivery/Repo"
import { TargetValues } from "@coffer/server/secrets/delivery/TargetValues"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { raw } from "../support/Services.js"
import { githubPlatform } from "./platforms/GithubPlatform.js"
import { type Answer, StandIn } from "./platforms/StandIn.js"
import { withPlatform, world } from "./World.js"

const github = Effect.acquireRelease(
  Effect.promise(() => StandIn.start(githubPlatform("/repos/acme/webshop/actions/secrets"))),
  (made) => Effect.promise(() => made.stop())
)

const run = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  withPlatform(Effect.provide(test, Layer.mergeAll(unfenced, TargetValues.Default, Outbound.Default)))

const now = Date.UTC(2026, 0, 31, 12)
const soon = String(now / 1000 + 90)

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api and https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/ */
const answers: Readonly<Record<string, readonly [answer: Answer, seconds: number | undefined]>> = {
  "a number of seconds": [{ status: 429, headers: { "retry-after": "7" } }, 7],
  "seconds of a platform that is down": [{ status: 503, headers: { "retry-after": "120" } }, 120],
  "a time": [{ status: 429, headers: { "retry-after": "Sat, 31 Jan 2026 12:05:00 GMT" } }, 300],
  "more than six hours": [{ status: 429, headers: { "retry-after": "900000" } }, 6 * 60 * 60],
  "the end of a window, as GitHub tells it": [
    { status: 403, headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": soon } },
    90
  ],
  "the end of a window, as GitLab tells it": [
    { status: 429, headers: { "ratelimit-remaining": "0", "ratelimit-reset": soon } },
    90
  ],
  "fewer calls, without a time, as GitHub's secondary limit": [{ status: 429 }, 60],
  "nothing, when a right is missing": [
    { status: 403, headers: { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": soon } },
    undefined
  ],
  "nothing, when it is broken": [{ status: 500 }, undefined]
}

describe("a platform that asks for", () => {
  for (const [name, [answer, seconds]] of Object.entries(answers)) {
    it.effect(`${name}: ${seconds ?? "no"} seconds are waited`, () =>
      Effect.gen(function* () {
        const standIn = yield* github
        yield* TestClock.setTime(now)
        standIn.before = () => answer
        const ask = yield* makePlatformCalls
        const failed = yield* Effect.flip(ask({ url: `${standIn.url}/x` }))
        assert.strictEqual(failed.retryAfterSeconds, seconds)
        assert.isTrue(failed.reason.startsWith(`it answered with the status ${answer.status}`))
      }).pipe(run)
    )
  }

  it.effect("a longer wait than the server's own gets it", () =>
    Effect.gen(function* () {
      const standIn = yield* github
      const place = { url: standIn.url, repository: "acme/webshop" }
      yield* world({ kind: "github-actions", place, automatic: "push" })
      standIn.before = () => ({ status: 429, headers: { "retry-after": "7200" } })
      const push = yield* makeAutomaticPushes
      const { due } = yield* targetsRepo
      const look = Effect.flatMap(
        due({ limit: 100 }),
        Effect.forEach(({ id }) => push(id))
      )
      assert.lengthOf(yield* look, 1)
      const db = yield* raw
      assert.deepStrictEqual(db.prepare("SELECT failures, retry_at FROM targets").all(), [
        { failures: 1, retry_at: now + 7_200_000 }
      ])
      yield* TestClock.adjust("119 minutes")
      assert.lengthOf(yield* look, 0)
      standIn.before = () => undefined
      yield* TestClock.adjust("1 minutes")
      assert.lengthOf(yield* look, 1)
      assert.deepStrictEqual(db.prepare("SELECT failures, retry_at FROM targets").all(), [
        { failures: 0, retry_at: null }
      ])
    }).pipe(run)
  )

  it.effect("another address is not followed", () =>
    Effect.gen(function* () {
      const standIn = yield* github
      standIn.before = () => ({ status: 302, headers: { location: `${standIn.url}/elsewhere` } })
      const ask = yield* makePlatformCalls
      const { reason } = yield* Effect.flip(ask({ url: `${standIn.url}/x`, headers: { authorization: "Bearer x" } }))
      assert.strictEqual(reason, "it answered with the status 302")
      assert.lengthOf(standIn.arrived, 1)
    }).pipe(run)
  )
})
