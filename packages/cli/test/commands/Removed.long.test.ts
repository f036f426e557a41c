import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

describe("secret list --removed", () => {
  it("shows what can be brought back, who deleted it and when, and how to bring it back", async () => {
    assert.deepStrictEqual(await ok("secret", "list", "--removed"), {
      stdout: "",
      stderr: "coffer: no deleted key of webshop/dev can be brought back\n"
    })
    for (const key of ["API_KEY", "OLD_TOKEN", "KEPT"]) await ok("secret", "set", key, "hunter2")
    await ok("secret", "delete", "API_KEY", "OLD_TOKEN", "--yes")
    const { stderr, stdout } = await ok("secret", "list", "--removed")
    assert.match(stdout, /^API_KEY\t1\t\S+Z\tada@example\.com\nOLD_TOKEN\t1\t\S+Z\tada@example\.com\n$/)
    assert.strictEqual(stderr, "coffer: bring one back with: coffer secret undelete KEY\n")
    await ok("secret", "undelete", "API_KEY")
    const { data } = JSON.parse(await prints("secret", "list", "--removed", "--json"))
    assert.deepStrictEqual(
      data.map(({ key, removed_by }: { readonly key: string; readonly removed_by: string }) => [key, removed_by]),
      [["OLD_TOKEN", "ada@example.com"]]
    )
    assert.deepStrictEqual(JSON.parse(await prints("secret", "list", "--json")).data.length, 2)
  })

  it("reads all pages, and takes one environment", async () => {
    const { token } = place.home
    const bundle = "/api/orgs/acme/projects/webshop/envs/staging/bundle"
    const keys = Array.from({ length: 150 }, (_none, index) => `MANY_${index}`)
    const set = Object.fromEntries(keys.map((key) => [key, "x"]))
    await place.server.call("PATCH", bundle, { body: { set }, token })
    await place.server.call("PATCH", bundle, { body: { delete: keys }, token })
    const { data } = JSON.parse(await prints("secret", "list", "--removed", "--env", "staging", "--json"))
    assert.lengthOf(data, 150)
    const { code, stderr } = await place.home.coffer(["secret", "list", "--removed", "--all-envs"])
    assert.strictEqual(code, 2)
    assert.match(stderr, /--removed needs one environment: leave out --all-envs/)
  })
})
