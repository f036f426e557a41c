import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

describe("project history", () => {
  it("shows the changes of all environments, newest first, without values", async () => {
    assert.deepStrictEqual(await ok("project", "history"), {
      stdout: "",
      stderr: "coffer: there are no changes that you may see\n"
    })
    for (const env of ["dev", "prod", "dev"]) await ok("secret", "set", "API_KEY", `hunter-${env}`, "--env", env)
    await ok("secret", "delete", "API_KEY", "--env", "prod", "--yes")
    const lines = (await prints("project", "history")).split("\n").map((line) => line.split("\t"))
    assert.deepStrictEqual(
      lines.map(([env, revision, , by, keys]) => [env, revision, by, keys].join(" ").trim()),
      [
        "prod 2 ada@example.com API_KEY deleted",
        "dev 2 ada@example.com API_KEY updated",
        "prod 1 ada@example.com API_KEY created",
        "dev 1 ada@example.com API_KEY created",
        ""
      ]
    )
    const json = await prints("project", "history", "--limit", "1", "--json")
    assert.notInclude(json, "hunter")
    assert.lengthOf(JSON.parse(json).data, 1)
  })

  it("reads several pages, up to the limit", async () => {
    const { token } = place.home
    for (let index = 0; index < 120; index++) {
      const path = "/api/orgs/acme/projects/webshop/envs/staging/secrets/MANY"
      await place.server.call("PUT", path, { body: { value: `${index}` }, token })
    }
    assert.lengthOf(JSON.parse(await prints("project", "history", "--limit", "110", "--json")).data, 110)
    assert.lengthOf(JSON.parse(await prints("project", "history", "--limit", "1000", "--json")).data, 124)
  })
})
