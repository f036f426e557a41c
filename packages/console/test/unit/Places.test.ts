import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { assert, describe, it } from "vitest"
import { orgAddress, placeOf, projectAddress, secretAddress, serverAddress } from "../../src/routing/Places.js"

const [org, project] = [OrgName.make("acme"), ProjectName.make("webshop")]
const [env, key] = [EnvName.make("prod"), SecretKey.make("DATABASE_URL")]
const pathOf = (address: string) => new URL(address, "http://localhost").pathname

describe("addresses", () => {
  it("are places of the API, and lead back to them", () => {
    assert.strictEqual(secretAddress(org, project, env, key), "/acme/webshop/DATABASE_URL?env=prod")
    assert.deepStrictEqual(placeOf(pathOf(secretAddress(org, project, env, key))), {
      at: "secret",
      page: "",
      org,
      project,
      key
    })
    assert.deepStrictEqual(placeOf(projectAddress(org, project)), { at: "project", page: "", org, project })
    assert.deepStrictEqual(placeOf(projectAddress(org, project, "promote")), {
      at: "project",
      page: "promote",
      org,
      project
    })
    assert.deepStrictEqual(placeOf(orgAddress(org, "members")), { at: "org", page: "members", org })
    assert.deepStrictEqual(placeOf(serverAddress("sessions")), { at: "server", page: "sessions" })
  })

  it("keep organizations apart that are named as paths of the server", () => {
    const login = OrgName.make("login")
    assert.strictEqual(orgAddress(login, "members"), "/-/org/login/-/members")
    assert.deepStrictEqual(placeOf(orgAddress(login, "members")), { at: "org", page: "members", org: login })
  })

  it("that name nothing have no place", () => {
    for (const path of ["/A", "/acme/-", "/acme/web_shop", "/acme/webshop/1KEY", "/acme/webshop/KEY/more", "/-/a/b"]) {
      assert.isNull(placeOf(path), path)
    }
  })
})
