import { inStageOrder } from "@coffer/domain/EnvironmentOrder"
import { assert, describe, it } from "vitest"

const names = (...of: ReadonlyArray<string>) => of.map((name) => ({ name }))

describe("the order of environments", () => {
  it("is that of the stages, others before them, and by name within a stage", () => {
    assert.deepStrictEqual(
      inStageOrder(names("prod-us", "canary", "staging", "prod-eu", "dev", "qa", "blue")),
      names("blue", "canary", "dev", "qa", "staging", "prod-eu", "prod-us")
    )
  })
})
