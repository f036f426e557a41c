import { Api } from "@coffer/domain/Api"
import { placeSummary, requestSummary } from "@coffer/domain/requests/RequestSummary"
import * as HttpApi from "@effect/platform/HttpApi"
import { assert, describe, it } from "vitest"

const keysOf = (...changes: ReadonlyArray<string>) => changes.map((change, index) => ({ key: `KEY_${index}`, change }))

describe("what a requested change does", () => {
  it.each([
    ["secrets.set", keysOf("created"), "set 1 secret in"],
    ["secrets.delete", keysOf("deleted"), "delete 1 secret in"],
    ["secrets.rollback", keysOf("updated"), "roll 1 secret back in"],
    ["environments.writeBundle", keysOf("created", "updated"), "set 2 secrets in"],
    ["environments.writeBundle", keysOf("deleted", "updated"), "change 2 secrets in"],
    ["environments.copy", keysOf(...Array.from({ length: 1_200 }, () => "created")), "copy 1,200 secrets to"],
    ["environments.revert", [], "revert secrets in"],
    ["environments.delete", keysOf("deleted"), "delete the environment"],
    ["a.later", keysOf("moved"), "change 1 secret in"],
    ["a.later", undefined, "change secrets in"]
  ])("%s: %j", (call, keys, words) => {
    assert.strictEqual(requestSummary({ call, keys }), words)
  })

  it("counts a key once, whatever happens to it", () => {
    const keys = ["updated", "use_rule"].map((change) => ({ key: "A", change }))
    assert.strictEqual(requestSummary({ call: "a.later", keys }), "change 1 secret in")
  })

  it("has words of its own for each call that can be asked for, or words of its keys", () => {
    const calls: Array<string> = []
    HttpApi.reflect(Api, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint, errors, group }) => {
        if (errors.has(202)) calls.push(`${group.identifier}.${endpoint.name}`)
      }
    })
    const byKeys = calls.filter(
      (call) =>
        placeSummary(call) === undefined && requestSummary({ call, keys: keysOf("updated") }) === "set 1 secret in"
    )
    assert.sameMembers(byKeys, ["secrets.set", "secrets.delete", "environments.writeBundle"])
    assert.isAbove(calls.length, 15)
  })
})
