import { AuditEntry, AuditPage } from "@coffer/domain/audit/AuditEntry"
import { AuditEntryId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import { Bundle, BundledSecret } from "@coffer/domain/secrets/Bundle"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { longList } from "@coffer/server/http/LongList"
import type { HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Redacted, Schema } from "effect"
import { fiberSteps } from "../support/FiberSteps.js"

const at = "2026-01-31T12:00:00.000Z"
const secret = (index: number) => ({
  ...{ key: SecretKey.make(`KEY_${index}`), version: 3, updated_at: at },
  value: Redacted.make(SecretValue.make(`"data":[] € ${index}`))
})
const entry = (index: number) => ({
  ...{ id: AuditEntryId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"), seq: index, created_at: at },
  ...{ actor_type: "user", actor_id: null, actor_name: "ada", action: "secret.read", resource_type: "env" },
  ...{ resource_id: null, org_id: null, ip_address: null },
  metadata: { keys: [{ key: `KEY_${index}`, version: 1 }] }
})
const pagination = { total: 9, limit: 9, has_next: true, next_cursor: 'x"data":[]' }

const listOf = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  count === 0 ? [] : Array.makeBy(count, make)

const textOf = (response: Effect.Effect<HttpServerResponse.HttpServerResponse>) =>
  Effect.map(response, ({ body, headers, status }) => {
    assert.deepInclude({ status, type: headers["content-type"] }, { status: 200, type: "application/json" })
    return body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : body._tag
  })

describe("a list that may be long", () => {
  it.effect.each([0, 1, 25, 26, 2_000])("is the text that its schema encodes: %i", (count) =>
    Effect.gen(function* () {
      const bundle = { revision: 7, data: listOf(count, secret) }
      assert.strictEqual(
        yield* textOf(longList(BundledSecret)(bundle)),
        JSON.stringify(Schema.encodeSync(Bundle)(bundle))
      )
      const page = { data: listOf(count, entry), pagination }
      assert.strictEqual(yield* textOf(longList(AuditEntry)(page)), JSON.stringify(Schema.encodeSync(AuditPage)(page)))
    })
  )

  it.effect("costs no step of the fiber for each record", () =>
    Effect.gen(function* () {
      const steps = (count: number) => fiberSteps(longList(BundledSecret)({ data: Array.makeBy(count, secret) }))
      assert.isBelow((yield* steps(500)) - (yield* steps(1)), 100)
    })
  )

  it.effect("leaves out what its schema does not have", () =>
    Effect.gen(function* () {
      const data = [{ ...secret(1), wrapped_key: "not for clients" }]
      assert.notInclude(yield* textOf(longList(BundledSecret)({ data })), "not for clients")
    })
  )
})
