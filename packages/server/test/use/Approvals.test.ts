import { Access } from "@coffer/server/access/Access"
import { Approvals } from "@coffer/server/secrets/use/Approvals"
import type { Actor } from "@coffer/domain/access/Actor"
import type { ApprovalId } from "@coffer/domain/base/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { asActor, entries, envPath, grant, member, orgPath, outcome, transaction } from "../support/Services.js"
import { ask, refusal, withUpstream, world } from "./World.js"

const pending = (actor: Actor) =>
  Effect.gen(function* () {
    const access = yield* Access
    return yield* (yield* Approvals).list(yield* access.org(orgPath(), "approval.list"))
  }).pipe(asActor(actor))

const decide = (actor: Actor, id: ApprovalId, state: "approve" | "refuse") =>
  transaction(
    Effect.gen(function* () {
      const access = yield* Access
      return yield* (yield* Approvals).decide(yield* access.env(envPath(), "approval.decide"), id, state)
    })
  ).pipe(asActor(actor))

const refund = { method: "POST", body: "charge=ch_1", headers: { "content-type": "text/plain" } } as const

const only = (actor: Actor) => Effect.map(pending(actor), ([first]) => first ?? assert.fail("none is pending"))

describe("a request that needs an approval", () => {
  it.effect("leaves once after a person approved exactly it", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* world({ approval: "each" })
      const message = yield* refusal(bot, refund)
      const shown = yield* only(ada)
      assert.match(
        message,
        new RegExp(`^APPROVAL_NEEDED .* coffer request approve ${shown.id}; then send the same request again`)
      )
      const { account, body, env, method, state } = shown
      assert.deepStrictEqual(
        [account, method, body, state, String(env)],
        ["agent", "POST", "charge=ch_1", "pending", "prod"]
      )
      assert.strictEqual(yield* refusal(bot, refund), message, "it is asked for once")
      yield* decide(ada, shown.id, "approve")
      assert.match(yield* refusal(bot, { ...refund, body: "charge=ch_2" }), /^APPROVAL_NEEDED/, "not another body")
      assert.match(yield* refusal(bot, { ...refund, path: "/v1/refunds/x" }), /^APPROVAL_NEEDED/, "not another path")
      assert.deepStrictEqual(other.arrived, [])
      assert.strictEqual((yield* ask(bot, refund)).status, 200)
      assert.match(yield* refusal(bot, refund), /^APPROVAL_NEEDED/, "not twice")
      assert.strictEqual(other.arrived.length, 1)
      const actions = (yield* entries()).map(({ action }) => action).filter((action) => action.startsWith("approval."))
      assert.deepStrictEqual(actions.slice(0, 2), ["approval.request", "approval.approve"])
    }).pipe(withUpstream())
  )

  it.effect("does not leave if it is refused, or once its five minutes are over", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* world({ approval: "each" })
      yield* refusal(bot, refund)
      const first = yield* only(ada)
      yield* decide(ada, first.id, "refuse")
      assert.match(yield* refusal(bot, refund), /^USE_REFUSED a person refused this request/)
      assert.strictEqual(yield* outcome(decide(ada, first.id, "approve")), "Conflict")
      yield* TestClock.adjust("6 minutes")
      assert.match(yield* refusal(bot, refund), /^APPROVAL_NEEDED/)
      const second = yield* only(ada)
      yield* decide(ada, second.id, "approve")
      yield* TestClock.adjust("6 minutes")
      assert.match(yield* refusal(bot, refund), /^APPROVAL_NEEDED/)
      assert.deepStrictEqual(other.arrived, [])
    }).pipe(withUpstream())
  )

  it.effect("is seen and decided by people with admin alone", () =>
    Effect.gen(function* () {
      const { bot } = yield* world({ approval: "each" })
      const page = /within 5 minutes at https:\/\/coffer\.test\/-\/org\/acme\/-\/approvals\?id=[0-9a-f-]{36}: coffer /
      assert.match(yield* refusal(bot, refund), page)
      const dev = yield* member("dev@example.com", "developer")
      assert.deepStrictEqual(yield* pending(dev), [])
      yield* grant(dev, "admin")
      const { id } = yield* only(dev)
      yield* grant(bot, "admin", { env: "prod" })
      assert.strictEqual(yield* outcome(decide(bot, id, "approve")), "Forbidden")
      assert.strictEqual(yield* outcome(pending(bot)), "Forbidden")
    }).pipe(withUpstream({ SERVICE_PUBLIC_URL: "https://coffer.test" }))
  )
})
