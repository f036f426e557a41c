import { EnvId, OrgId, ProjectId, RequestId } from "@coffer/domain/base/Ids"
import { makeSealedCalls } from "@coffer/server/directory/requests/SealedCalls"
import { decodeCall, encodeCall, jsonPieces } from "@coffer/server/directory/requests/CallCodec"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { onDatabase, outcome, transaction } from "../support/Services.js"

const id = (last: string) => `0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d${last}`
const place = {
  id: RequestId.make(id("01")),
  orgId: OrgId.make(id("02")),
  projectId: ProjectId.make(id("03")),
  envId: EnvId.make(id("04"))
}

describe("the call of a pending request", () => {
  it("is written in pieces as JSON writes it", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.json(), (text) => {
        const value: unknown = JSON.parse(text)
        assert.strictEqual([...jsonPieces(value)].join(""), JSON.stringify(value))
      })
    )
  })

  it.effect("is read as a whole, or not at all: another version of the server may have asked for more", () =>
    Effect.gen(function* () {
      const path = { org_name: "acme", project_name: "webshop", env_name: "prod", key: "A" }
      const asked = { path, payload: { value: "two", expected_version: 1 } }
      const call = yield* decodeCall("secrets.set", asked)
      assert.deepStrictEqual(yield* encodeCall("secrets.set", call ?? {}), asked)
      const later = { path, payload: { ...asked.payload, only_if: "something" } }
      assert.isNull(yield* decodeCall("secrets.set", later))
    })
  )

  it.effect("opens for its own request and environment alone, whole and in order", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const bodies = yield* makeSealedCalls
      yield* sql`PRAGMA foreign_keys = OFF`
      const payload = Object.fromEntries(
        Array.from({ length: 300 }, (_none, index) => [`K_${index}`, `ü${"x".repeat(1_000)}`])
      )
      const call = { path: { key: "A" }, payload }
      const sealed = yield* bodies.seal(place, call)
      assert.isAbove(sealed.bytes, 300_000)
      yield* transaction(sealed.store)
      assert.deepStrictEqual(yield* bodies.open(place), call)
      const [stored] = yield* sql<{ parts: number }>`SELECT count(*) AS parts FROM request_parts`
      assert.isAbove(stored?.parts ?? 0, 3)
      const rows = yield* sql<{ ciphertext: Uint8Array }>`
        SELECT ciphertext FROM request_parts UNION ALL SELECT ciphertext FROM wrapped_keys`
      for (const { ciphertext } of rows) assert.isFalse(Buffer.from(ciphertext).includes("xxxx"))
      const elsewhere = { ...place, envId: EnvId.make(id("05")) }
      assert.strictEqual(yield* outcome(bodies.open(elsewhere)), "DecryptionFailed")
      yield* sql`DELETE FROM request_parts WHERE part = 1`
      assert.strictEqual(yield* outcome(bodies.open(place)), "DecryptionFailed")
      yield* transaction(bodies.remove(place.id))
      assert.strictEqual(yield* bodies.open(place), null)
    }).pipe(onDatabase())
  )
})
