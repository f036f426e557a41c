import { Unauthorized } from "@coffer/domain/errors/Errors"
import { makeAccountNetworks, makeOutside } from "@coffer/server/access/caller/AccountNetworks"
import { RequestInfo, type RequestInfoShape } from "@coffer/server/base/RequestInfo"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { account, entries, onDatabase, organization } from "../support/Services.js"

describe("the networks of a service account", () => {
  it("keep out other addresses and unknown ones; an account without networks calls from anywhere", () => {
    const isOutside = makeOutside()
    const networks = JSON.stringify(["10.0.0.0/8", "no network", "2001:db8::/32"])
    for (const [allowed, ip, expected] of [
      [null, "192.0.2.1", false],
      [null, null, false],
      [networks, null, true],
      [networks, "192.0.2.1", true],
      [networks, "10.1.2.3", false],
      [networks, "2001:db8::1", false],
      [networks, "2001:db9::1", true],
      ["[]", "10.1.2.3", true]
    ] as const) {
      assert.strictEqual(isOutside(allowed, ip), expected, `${allowed} ${ip}`)
    }
  })

  it("are those of each account, however many lists there are", () => {
    const isOutside = makeOutside()
    const list = (index: number) => JSON.stringify([`10.${index >> 8}.${index & 255}.0/24`])
    for (const _round of [1, 2]) {
      for (let index = 0; index < 1_100; index++) {
        assert.isFalse(isOutside(list(index), `10.${index >> 8}.${index & 255}.7`))
        assert.isTrue(isOutside(list(index), "192.0.2.1"))
      }
    }
  })

  it.effect("refuse a call from elsewhere as an unknown key, and the organization's log has the address", () =>
    Effect.gen(function* () {
      yield* organization()
      const bot = yield* account("bot")
      const check = yield* makeAccountNetworks
      const refusal = new Unauthorized({ message: "unknown" })
      const from = (ip: string | null, networks: string | null) => {
        const info: RequestInfoShape = { id: "", ip, client: null, route: null, actor: null }
        const bound = { account_id: bot.id, account_name: bot.name, own_org_id: bot.orgId, allowed_networks: networks }
        return check(bound, Context.make(RequestInfo, info), refusal)
      }
      const networks = '["10.0.0.0/8"]'
      assert.isNull(from("192.0.2.1", null))
      assert.isNull(from(null, null))
      assert.isNull(from("10.1.2.3", networks))

      const before = (yield* entries()).length
      for (const ip of ["192.0.2.1", null]) {
        const refused = from(ip, networks)
        assert.isNotNull(refused)
        if (refused !== null) assert.strictEqual(yield* Effect.flip(refused), refusal)
      }
      assert.deepStrictEqual(
        (yield* entries()).slice(before).map(({ action, actor, actor_id, actor_type, metadata, resource }) => ({
          ...{ action, actor, actor_id, actor_type, metadata, resource }
        })),
        ["192.0.2.1", "an unknown address"].map((address) => ({
          action: "access.denied",
          actor: "bot",
          actor_id: bot.id,
          actor_type: "service_account",
          metadata: { action: "service_account.use", reason: `its networks do not include ${address}` },
          resource: ["service_account", bot.id]
        }))
      )
    }).pipe(onDatabase())
  )
})
