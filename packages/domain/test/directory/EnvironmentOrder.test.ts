import { inPlaceOrder, inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import { assert, describe, it } from "vitest"

const names = (...of: ReadonlyArray<string>) => of.map((name) => ({ name }))

describe("the order of environments", () => {
  it("is that of the stages, others after them, and by name within a stage", () => {
    assert.deepStrictEqual(
      inStageOrder(names("prod-us", "canary", "preview", "staging", "prod-eu", "dev", "qa", "test", "blue")),
      names("dev", "test", "qa", "staging", "preview", "prod-eu", "prod-us", "blue", "canary")
    )
  })

  it("is the project's own where it gives one, and the others follow", () => {
    const prod = { name: "prod", position: 0 }
    const blue = { name: "blue", position: 1 }
    assert.deepStrictEqual(inStageOrder([...names("dev", "qa"), blue, prod]), [prod, blue, ...names("dev", "qa")])
    const places = ["b/prod", "a/staging", "b/dev", "a/dev"].map((place) => {
      const [project = "", env = ""] = place.split("/")
      return { project, env, ...(place === "b/prod" && { position: 0 }) }
    })
    assert.deepStrictEqual(
      inPlaceOrder(places).map(({ env, project }) => `${project}/${env}`),
      ["a/dev", "a/staging", "b/prod", "b/dev"]
    )
  })
})
