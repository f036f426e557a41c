import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

describe("secret find", () => {
  it("shows where keys are that contain the query, without values, and says if no key contains it", async () => {
    await ok("project", "create", "backend")
    for (const at of ["webshop/dev", "webshop/prod", "backend/dev"]) {
      await ok("secret", "set", "STRIPE_KEY", "hunter2", "--env", `acme/${at}`)
    }
    await ok("secret", "set", "OLD_STRIPE", "hunter2", "--env", "acme/backend/dev")
    const { stderr, stdout } = await ok("secret", "find", "stripe")
    assert.deepStrictEqual(
      stdout.split("\n").map((line) => line.split("\t").slice(0, 3).join(" ")),
      [
        "backend/dev STRIPE_KEY 1",
        "webshop/dev STRIPE_KEY 1",
        "webshop/prod STRIPE_KEY 1",
        "backend/dev OLD_STRIPE 1",
        ""
      ]
    )
    assert.strictEqual(stderr, "")
    const json = await prints("secret", "find", "OLD", "--json")
    assert.notInclude(json, "hunter")
    const [found] = JSON.parse(json).data
    assert.deepInclude(found, { project: "backend", env: "dev", key: "OLD_STRIPE", version: 1, declared: false })
    assert.deepStrictEqual(await ok("secret", "find", "nowhere"), {
      stdout: "",
      stderr: "coffer: no key that you may list contains nowhere\n"
    })
  })

  it("reads all pages", async () => {
    const set = Object.fromEntries(Array.from({ length: 250 }, (_none, index) => [`MANY_${index}`, "x"]))
    const { token } = place.home
    await place.server.call("PATCH", "/api/orgs/acme/projects/webshop/envs/dev/bundle", { body: { set }, token })
    assert.lengthOf(JSON.parse(await prints("secret", "find", "many_", "--json")).data, 250)
  })

  it("refuses what no key can contain", async () => {
    for (const query of ["", "A B", "50%"]) {
      const { code, stderr } = await place.home.coffer(["secret", "find", query])
      assert.strictEqual(code, 2)
      assert.match(stderr, /QUERY must be 1 to 100 letters, digits, underscores, dots and hyphens: a part of a key/)
    }
  })
})
