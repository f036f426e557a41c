import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const listed = async () => (await prints("env", "list")).split("\n").map((line) => line.split("\t")[0])

describe("project update", () => {
  it("orders the environments of all lists, and again by stage", async () => {
    for (const name of ["qa", "blue"]) await ok("env", "create", name)
    assert.deepStrictEqual(await listed(), ["dev", "qa", "staging", "prod", "blue", ""])
    assert.strictEqual(
      (await ok("project", "update", "--order", "prod,dev", "--strict")).stdout,
      "project webshop is strict and orders its environments: prod, dev\n"
    )
    assert.deepStrictEqual(await listed(), ["prod", "dev", "qa", "staging", "blue", ""])
    await ok("secret", "set", "KEY", "x")
    assert.match(await prints("secret", "list", "--all-envs"), /^KEY\tmissing\tA\tmissing\t/m)
    assert.match(await prints("project", "get"), /^order\tprod, dev$/m)
    assert.deepStrictEqual(JSON.parse(await prints("project", "get", "--json")).order, ["prod", "dev"])
    assert.deepStrictEqual(
      (await prints("acl", "table")).split("\n").map((line) => line.split("\t")[0]),
      ["webshop/prod", "webshop/dev", "webshop/qa", "webshop/staging", "webshop/blue", ""]
    )

    for (const [words, code, message] of [
      [["--order", "prod,nowhere"], 1, /project webshop has no environment nowhere/],
      [["--order", "Not A Name"], 2, /--order takes names of environments, separated by commas/],
      [[], 2, /give --strict, --not-strict, --order or --usual-order/],
      [["--order", "prod", "--usual-order"], 2, /give either --order or --usual-order/]
    ] as const) {
      const refused = await place.home.coffer(["project", "update", ...words])
      assert.strictEqual(refused.code, code, refused.stderr)
      assert.match(refused.stderr, message)
    }
    await ok("project", "update", "--usual-order")
    assert.deepStrictEqual(await listed(), ["dev", "qa", "staging", "prod", "blue", ""])
  })
})
