import { Api } from "@coffer/domain/Api"
import { Polled, Requires } from "@coffer/domain/api/Requirement"
import * as HttpApi from "@effect/platform/HttpApi"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Program } from "../support/Program.js"

const polled: Array<string> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
    if (!Option.getOrElse(Context.getOption(mergedAnnotations, Polled), () => false)) return
    const requires = Option.getOrElse(Context.getOption(mergedAnnotations, Requires), () => "")
    polled.push(`${endpoint.method} ${group.identifier}.${endpoint.name}: ${requires}`)
  }
})

describe("the endpoints that clients poll", () => {
  it("are these lists, which hold no values", () => {
    assert.deepStrictEqual(polled.sort(), [
      "GET approvals.list: approval.list",
      "GET audit.list: audit.read",
      "GET requests.list: request.list",
      "GET webhooks.deliveries: webhook.list",
      "GET webhooks.list: webhook.list"
    ])
  })
})

describe("a polled list", () => {
  const webhooks = "/api/orgs/acme/webhooks"
  let program: Program
  let token: string

  beforeAll(async () => {
    program = await Program.start()
    token = await program.login("ada@example.com")
    const { status } = await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
    assert.strictEqual(status, 201)
  })
  afterAll(() => program.remove())

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(program.url + path, { headers: { authorization: `Bearer ${token}`, ...headers } })

  it("is sent again only once it has changed", async () => {
    const first = await get(webhooks)
    const etag = first.headers.get("etag") ?? assert.fail("the list has no ETag")
    const unchanged = await get(webhooks, { "if-none-match": etag })
    assert.deepStrictEqual([unchanged.status, unchanged.headers.get("etag"), await unchanged.text()], [304, etag, ""])
    const hook = { url: "https://receiver.example.com/hook", events: ["secret.*"] }
    const made = await program.call("POST", webhooks, { token, body: hook })
    assert.strictEqual(made.status, 201, made.text)
    const changed = await get(webhooks, { "if-none-match": etag })
    assert.strictEqual(changed.status, 200)
    assert.notStrictEqual(changed.headers.get("etag"), etag)
    assert.include(await changed.text(), "receiver.example.com")
  })

  it("has the right checked again, whatever tag is sent", async () => {
    const etag = (await get(webhooks)).headers.get("etag") ?? ""
    const stranger = await program.login("bob@example.com")
    const refused = await get(webhooks, { "if-none-match": etag, authorization: `Bearer ${stranger}` })
    assert.strictEqual(refused.status, 404)
  })
})
