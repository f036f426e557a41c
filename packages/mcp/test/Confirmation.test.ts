import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/sdk/types.js"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { Agent, clearAway, TestHome } from "./support/Agent.js"
import { Service } from "./support/Service.js"

let service: Service
let agent: Agent
let asked: Array<ElicitRequest["params"]> = []
let reply: () => ElicitResult | Promise<ElicitResult>

const accept = () => ({ action: "accept" as const, content: { confirm: true } })

beforeAll(async () => {
  service = await Service.start()
  const home = new TestHome().session(service.url, service.owner)
  agent = await Agent.start(service.at(""), home, (question) => {
    asked.push(question)
    return reply()
  })
  await service.post("/api/orgs/acme/projects", { name: "blog" })
})
beforeEach(async () => {
  asked = []
  await service.request("PUT", "/api/orgs/acme/projects/shop/envs/dev/secrets/KEPT", { value: "x" })
})
afterAll(async () => {
  await clearAway()
  await service.stop()
})

/** Each tool that deletes, with the full name of the thing. */
const deletions = [
  ["secret_delete", { key: "KEPT" }, "Delete the secret KEPT of acme/shop/dev?"],
  ["env_delete", { name: "staging" }, "Delete the environment acme/shop/staging, with all its secrets?"],
  ["project_delete", { name: "blog" }, "Delete the project acme/blog, with all its environments and secrets?"]
] as const

const assertNothingIsDeleted = async () => {
  const names = async (tool: string) => JSON.stringify(await agent.use(tool))
  assert.include(await names("secret_list"), '"KEPT"')
  assert.include(await names("env_list"), '"staging"')
  assert.include(await names("project_list"), '"blog"')
}

describe("a deletion, where the host can ask", () => {
  it("asks the person first, with the full name of the thing", async () => {
    reply = () => ({ action: "decline" })
    for (const [name, parameters, question] of deletions) {
      await agent.refused(name, parameters, "NOT_CONFIRMED")
      const params = asked.at(-1)
      assert.strictEqual(params?.message, question)
      assert(params !== undefined && "requestedSchema" in params)
      const { properties, required } = params.requestedSchema
      assert.deepStrictEqual(required, ["confirm"])
      assert.strictEqual(properties["confirm"]?.type, "boolean")
    }
    assert.lengthOf(asked, 3)
  })

  it("is not done when the person declines, dismisses the question, or leaves the box empty, and the result says so", async () => {
    const replies: ReadonlyArray<readonly [ElicitResult, RegExp]> = [
      [{ action: "decline" }, /the user declined .* nothing was deleted/],
      [{ action: "cancel" }, /the user dismissed the question .* nothing was deleted/],
      [{ action: "accept", content: { confirm: false } }, /the user declined/],
      [{ action: "accept" }, /the user declined/]
    ]
    for (const [given, said] of replies) {
      reply = () => given
      for (const [name, parameters] of deletions) {
        assert.match(await agent.refused(name, parameters, "NOT_CONFIRMED"), said)
      }
    }
    await assertNothingIsDeleted()
  })

  it("is not done when the host fails to ask", async () => {
    reply = () => Promise.reject(new Error("no window"))
    for (const [name, parameters] of deletions) {
      const text = await agent.refused(name, parameters, "NOT_CONFIRMED")
      assert.match(text, /the user did not answer the question .* nothing was deleted/)
    }
    await assertNothingIsDeleted()
  })

  it("is not done when the call is cancelled during the question", async () => {
    const abort = new AbortController()
    reply = () => {
      abort.abort("changed my mind")
      return accept()
    }
    await agent.call("secret_delete", { key: "KEPT" }, abort.signal).then(
      () => assert.fail("it was answered"),
      () => undefined
    )
    await assertNothingIsDeleted()
  })

  it("asks nothing when the call cannot succeed", async () => {
    await agent.refused("secret_delete", { key: "not a key" }, "VALIDATION_ERROR")
    assert.lengthOf(asked, 0)
  })

  it("is done when the person confirms, and nothing else asks", async () => {
    reply = accept
    for (const [name, parameters] of deletions) {
      assert.isTrue((await agent.use(name, parameters)).deleted)
    }
    assert.lengthOf(asked, 3)
    await agent.use("secret_set", { key: "A", value: "b" })
    assert.lengthOf(asked, 3)
  })
})

describe("a deletion, where the host cannot ask", () => {
  it("is done", async () => {
    const silent = await Agent.start(service.at(""), new TestHome().session(service.url, service.owner))
    assert.isTrue((await silent.use("secret_delete", { key: "KEPT" })).deleted)
  })
})
