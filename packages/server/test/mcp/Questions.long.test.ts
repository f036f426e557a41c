import { Client as Newer, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { people, word } from "../authorization/Service.js"
import { startWorld, type World } from "../requests/World.js"
import type { Json } from "../support/Program.js"
import { agents, roundRobin } from "./Agents.js"
import { round, stateOf, ticked } from "./Rounds.js"

// Questions of remote agents' calls to their people, on two servers of one database.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const delegation = async ({ headers }: { readonly headers: Readonly<Record<string, string>> }, org: string) => {
  const terms = { org: org.slice("/api/orgs/".length), project: "webshop", env: "prod", expires_in: 3600 }
  const { token } = await world.first.do(headers, "POST", "/api/auth/delegations", {
    ...terms,
    name: `agent-${word()}`,
    permission: "write"
  })
  return token as string
}

/** A place with a delegation, and a key of it to delete. */
const scene = async () => {
  const one = await world.organization()
  const token = await delegation(one.owner, one.org)
  return { ...one, token, headers: people(token) }
}

const has = async (prod: string, key: string): Promise<boolean> => {
  const { data } = await world.first.asRoot("GET", `${prod}/secrets`)
  return data.some((secret: Json) => secret.key === key)
}

const deletion = { tool: "secret_delete", parameters: { key: "A" } }
const refused = /^requestState belongs to another call or caller, is older than 5 minutes, or was used before/

describe("a question of a call", () => {
  it("is answered at any server, and once", async () => {
    const { headers, prod } = await scene()
    const asked = await round(world.first, { headers, ...deletion })
    const state = stateOf(asked)
    assert.match(asked.inputRequests.confirm.params.message, /^Delete the secret A of /)
    assert.isTrue(await has(prod, "A"))
    const both = [world.first, world.second].map((server) =>
      round(server, { headers, ...deletion, state, replies: ticked })
    )
    const results = await Promise.all(both)
    const made = results.filter(({ structuredContent }) => structuredContent?.deleted === true)
    assert.lengthOf(made, 1, JSON.stringify(results))
    const { code, data, message } = results.find((result) => "code" in result)
    assert.deepStrictEqual([code, data], [-32_602, { reason: "invalid_request_state" }])
    assert.match(message, refused)
    assert.isFalse(await has(prod, "A"))
  })

  it("is of its caller, its tool and its parameters, whatever their order", async () => {
    const one = await scene()
    const { headers, org, prod } = one
    await world.first.asRoot("PUT", `${prod}/secrets/B`, { value: "two" })
    const parameters = { key: "A", reason: "it is old" }
    const state = stateOf(await round(world.first, { headers, ...deletion, parameters }))
    const sameCall = { headers, ...deletion, parameters, state, replies: ticked }
    const others = [
      { ...sameCall, headers: people(await delegation(one.owner, org)) },
      { ...sameCall, headers: people(await delegation(one.admin, org)) },
      { ...sameCall, headers: one.ci.headers, query: "?project=webshop&env=prod" },
      { ...sameCall, tool: "secret_set" },
      { ...sameCall, parameters: { key: "B", reason: "it is old" } },
      { ...sameCall, parameters: { key: "A" } },
      { ...sameCall, parameters: { ...parameters, env: "prod" } }
    ]
    for (const other of others) {
      const { message } = await round(world.second, other)
      assert.match(message, refused, JSON.stringify(other))
    }
    assert.isTrue(await has(prod, "A"))
    const reordered = { reason: "it is old", key: "A" }
    const made = await round(world.second, { ...sameCall, parameters: reordered })
    assert.isTrue(made.structuredContent?.deleted, JSON.stringify(made))
    assert.isTrue(await has(prod, "B"))
  })

  it("does not open when it was altered, or is of no server", async () => {
    const { headers, prod } = await scene()
    const state = stateOf(await round(world.first, { headers, ...deletion }))
    const altered = [...Array(12).keys()].map((n) => {
      const at = Math.floor((n * (state.length - 1)) / 11)
      return state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1)
    })
    // The last character has two bits that no byte has.
    altered.pop()
    for (const other of [...altered, state.slice(0, -5), `${state}AAAA`, "", "x", "A".repeat(5_000)]) {
      const { message } = await round(world.second, { headers, ...deletion, state: other, replies: ticked })
      assert.match(message, refused, other)
    }
    assert.isTrue(await has(prod, "A"))
    assert.notInclude(Buffer.from(state, "base64url").toString("latin1"), "secret_delete")
  })

  it("is asked again when a reply comes without its state, or the state without a reply", async () => {
    const { headers, prod } = await scene()
    const state = stateOf(await round(world.first, { headers, ...deletion, replies: ticked }))
    const again = stateOf(await round(world.first, { headers, ...deletion, state }))
    assert.notStrictEqual(again, state)
    const approve = { approve: { action: "accept" } }
    const third = stateOf(await round(world.first, { headers, ...deletion, state: again, replies: approve }))
    assert.isTrue(await has(prod, "A"))
    const declined = { confirm: { action: "decline" } }
    const said = await round(world.first, { headers, ...deletion, state: third, replies: declined })
    assert.match(said.content[0].text, /^NOT_CONFIRMED: the user declined/)
    assert.isTrue(await has(prod, "A"))
  })

  it("belongs to the place that the person read in it", async () => {
    const one = await world.organization()
    await world.first.asRoot("PUT", `${one.project}/envs/staging/secrets/A`, { value: "two" })
    const at = (env: string) => ({ headers: one.ci.headers, query: `?project=webshop&env=${env}`, ...deletion })
    const state = stateOf(await round(world.first, at("staging")))
    const again = await round(world.second, { ...at("prod"), state, replies: ticked })
    assert.match(again.inputRequests.confirm.params.message, /webshop\/prod\?$/)
    assert.isTrue(await has(one.prod, "A"))
  })
})

/** A use that a person approves each time, for the account of a place. */
const approvedUse = async () => {
  const one = await world.organization()
  await world.first.asRoot("PUT", `${one.prod}/secrets/PAID`, { value: "sk_live_CanaryOfQuestions" })
  await world.first.asRoot("POST", `${one.prod}/secrets/PAID/use-rules`, {
    hosts: ["api.invalid"],
    paths: ["/v1/*"],
    methods: ["POST"],
    place: { in: "header", name: "authorization", format: "Bearer {}" },
    accounts: ["ci"],
    approval: "each"
  })
  const call = {
    headers: one.ci.headers,
    query: "?project=webshop&env=prod&use=1",
    tool: "http_request",
    parameters: { method: "POST", url: "https://api.invalid/v1/refunds", secrets: ["PAID"], body: "charge=1" }
  }
  const decide = (id: string, verb = "approve") =>
    world.first.do(one.owner.headers, "POST", `${one.org}/approvals/${id}/${verb}`)
  return { ...one, call, decide }
}

const visited = { approve: { action: "accept" } }

describe("a use that a person approves", () => {
  it("sends the person to the page, and is made once by what the person approved there", async () => {
    const { call, decide } = await approvedUse()
    const asked = await round(world.first, call)
    const { message, mode, url } = asked.inputRequests.approve.params
    assert.deepStrictEqual([mode, new URL(url).pathname.endsWith("/-/approvals")], ["url", true])
    assert.match(message, /^Approve POST https:\/\/api\.invalid\/v1\/refunds with PAID of /)
    await decide(new URL(url).searchParams.get("id") ?? "")
    // The request has left, and no host has that name.
    const made = await round(world.second, { ...call, state: stateOf(asked), replies: visited })
    assert.match(made.content[0].text, /^UPSTREAM_FAILED: /)
    const next = await round(world.second, call)
    assert.notStrictEqual(next.inputRequests.approve.params.url, url)
  })

  it("takes no reply for a page that the person has not seen", async () => {
    const { call, decide } = await approvedUse()
    const first = await round(world.first, call)
    const idOf = (asked: Json) => new URL(asked.inputRequests.approve.params.url).searchParams.get("id") ?? ""
    await decide(idOf(first))
    await round(world.first, call)
    // The approval is spent: the next request waits for one of its own.
    const again = await round(world.second, { ...call, state: stateOf(first), replies: visited })
    assert.notStrictEqual(idOf(again), idOf(first))
  })

  it("says where to approve to a host that opens no pages, and to one of an earlier revision", async () => {
    const { call, ci, org } = await approvedUse()
    const said = await round(world.first, { ...call, can: { form: {} } })
    const [, page = ""] = /APPROVAL_NEEDED: .* at (https:\S+): coffer request approve/.exec(said.content[0].text) ?? []
    assert.include(page, `/-/org/${org.slice("/api/orgs/".length)}/-/approvals?id=`)
    const older = await agents["version 1"]([world.first, world.second], ci.headers["x-api-key"] ?? "", call.query)
    const { isError, text } = await older.call("http_request", call.parameters)
    assert.isTrue(isError)
    assert.include(text, page)
  })
})

describe("a change that needs votes", () => {
  const change = { tool: "secret_set", parameters: { key: "A", value: "two", reason: "INC-12" } }

  it("sends the person to its request, and is made once", async () => {
    const one = await world.protectedOne()
    const call = { headers: people(await delegation(one.owner, one.org)), ...change }
    const asked = await round(world.first, call)
    const { message, url } = asked.inputRequests.votes.params
    const id = new URL(url).searchParams.get("id") ?? ""
    assert.strictEqual(message.startsWith(`See request ${id}, by which people approve the change of `), true)
    assert.strictEqual((await world.vote(one, one.admin.headers, id)).body.state, "done")
    const replies = { votes: { action: "accept" } }
    const made = await round(world.second, { ...call, state: stateOf(asked), replies })
    assert.match(made.content[0].text, new RegExp(`^CHANGE_MADE: request ${id} was approved, and the change was made`))
    const { data } = await world.first.asRoot("GET", `${one.prod}/secrets/A/versions`)
    assert.lengthOf(data, 2)
    const { data: requests } = await world.first.asRoot("GET", `${one.org}/requests`)
    assert.lengthOf(requests, 1)
  })

  it("is told as refused, and as waiting where the person does not go there", async () => {
    const one = await world.protectedOne()
    const call = { headers: people(await delegation(one.owner, one.org)), ...change }
    const asked = await round(world.first, call)
    const id = new URL(asked.inputRequests.votes.params.url).searchParams.get("id") ?? ""
    const cancelled = { votes: { action: "cancel" } }
    const waits = await round(world.second, { ...call, state: stateOf(asked), replies: cancelled })
    assert.match(
      waits.content[0].text,
      new RegExp(`^CHANGE_REQUESTED: .*request ${id} waits until 1 person approves it`)
    )
    const again = await round(world.second, call)
    assert.strictEqual(new URL(again.inputRequests.votes.params.url).searchParams.get("id"), id)
    await world.vote(one, one.admin.headers, id, "refuse")
    const replies = { votes: { action: "accept" } }
    const said = await round(world.first, { ...call, state: stateOf(again), replies })
    assert.match(said.content[0].text, /^CHANGE_NOT_MADE: request \S+ is refused, and nothing was changed/)
  })

  it("asks before it deletes, then for votes, each by a state of its own", async () => {
    const one = await world.protectedOne()
    const call = { headers: people(await delegation(one.owner, one.org)), ...deletion }
    const first = await round(world.first, call)
    const second = await round(world.second, { ...call, state: stateOf(first), replies: ticked })
    const id = new URL(second.inputRequests.votes.params.url).searchParams.get("id") ?? ""
    await world.vote(one, one.admin.headers, id)
    const replies = { votes: { action: "accept" } }
    const made = await round(world.first, { ...call, state: stateOf(second), replies })
    assert.match(made.content[0].text, /^CHANGE_MADE: /)
    assert.isFalse(await has(one.prod, "A"))
  })

  it("says where people approve to a host that opens no pages", async () => {
    const one = await world.protectedOne()
    const call = { headers: people(await delegation(one.owner, one.org)), ...change }
    const said = await round(world.first, { ...call, can: {} })
    const page = new RegExp(`by coffer request approve or at https://\\S+/-/approvals\\?id=`)
    assert.match(said.content[0].text, page)
    const older = await agents["version 1"]([world.first, world.second], await delegation(one.admin, one.org))
    assert.match((await older.call("secret_set", change.parameters)).text, page)
  })
})

describe("the official client of version 2", () => {
  it("asks its person, and brings the reply to another server", async () => {
    const { decide, ci, prod, call } = await approvedUse()
    const client = new Newer(
      { name: "test", version: "0" },
      {
        capabilities: { elicitation: { form: {}, url: {} } },
        versionNegotiation: { mode: { pin: "2026-07-28" } }
      }
    )
    const asked: Array<string> = []
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message)
      if (params.mode !== "url") return { action: "accept", content: { confirm: true } }
      await decide(new URL(params.url).searchParams.get("id") ?? "")
      return { action: "accept" }
    })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`http://localhost/mcp${call.query}`), {
        fetch: roundRobin([world.first, world.second]),
        requestInit: { headers: ci.headers }
      })
    )
    const used: Json = await client.callTool({ name: call.tool, arguments: call.parameters })
    assert.match(used.content[0].text, /^UPSTREAM_FAILED: /)
    const deleted: Json = await client.callTool({ name: "secret_delete", arguments: { key: "A" } })
    assert.isTrue(deleted.structuredContent?.deleted)
    assert.isFalse(await has(prod, "A"))
    assert.lengthOf(asked, 2)
    await client.close()
  })
})
