import type { ServerUsage } from "@coffer/domain/server/ServerFacts"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { word } from "../authorization/Service.js"
import { email } from "../support/Services.js"

let pair: Pair

beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), SERVICE_ORG_CREATION: "anyone" })
})
afterAll(() => pair.stop())

const usage = async (): Promise<ServerUsage> => (await pair.first.asRoot("GET", "/api/server/settings")).usage

describe("how much is on the server", () => {
  it("is counted for superadmins: people, the disabled apart, organizations, and the bytes of the database", async () => {
    const before = await usage()
    assert.isAbove(before.database_bytes, 100_000)
    assert.isAtLeast(before.superadmins, 1)
    const [ada, hal] = [
      await pair.first.person(email(`${word()}@x.com`)),
      await pair.first.person(email(`${word()}@x.com`))
    ]
    const name = `org-${word()}`
    await pair.first.do(ada.headers, "POST", "/api/orgs", { name })
    await pair.first.asRoot("POST", `/api/users/${hal.id}/disable`)
    const { database_bytes, ...after } = await usage()
    assert.isAtLeast(database_bytes, before.database_bytes)
    const { disabled, organizations, people, superadmins } = before
    assert.deepStrictEqual(after, {
      ...{ disabled: disabled + 1, organizations: organizations + 1, people: people + 1, superadmins }
    })
    await pair.first.do(ada.headers, "DELETE", `/api/orgs/${name}`)
    assert.strictEqual((await usage()).organizations, organizations)
    const { status } = await pair.first.send({ method: "GET", path: "/api/server/settings", headers: ada.headers })
    assert.strictEqual(status, 403)
  })
})
