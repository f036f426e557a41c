import { type GuardedAction, isGuarded, needs, type Action } from "@coffer/domain/access/Permissions"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endpoints } from "../authorization/Contract.js"
import { prepareOn } from "../authorization/Losses.js"
import { type Pair, startPair } from "../authorization/Pair.js"
import { restsOn, sceneSettings } from "../authorization/Scene.js"
import type { Json } from "../support/Program.js"

// Every call that the gate guards, by somebody with no more than the right to it: refused, asked for, and made by a vote.

let pair: Pair
beforeAll(async () => {
  pair = await startPair(sceneSettings())
})
afterAll(() => pair.stop())

const isAction = (requires: string | undefined): requires is Action => requires !== undefined && requires in needs

/** They are guarded if they hold a protected environment. */
const holders: ReadonlySet<string> = new Set(["project.delete", "org.delete"])

/** The calls that can say what they would change. No other is let through by a field of that name. */
const planning: ReadonlySet<string> = new Set(
  ["PATCH bundle", "POST copy", "POST revert"].map((call) =>
    call.replace(" ", " /api/orgs/:org_name/projects/:project_name/envs/:env_name/")
  )
)

const guarded = endpoints.filter(({ requires }) => isAction(requires) && (isGuarded(requires) || holders.has(requires)))

const rows = guarded.flatMap((endpoint) =>
  (restsOn(endpoint).account ? (["user", "account"] as const) : (["user"] as const)).map(
    (kind) => [endpoint.call, kind, endpoint] as const
  )
)

describe("a change of a protected environment", () => {
  it("is each that the contract has", () => {
    const actions = new Set(guarded.map(({ requires }) => requires))
    const all: ReadonlyArray<GuardedAction> = [
      "secret.write",
      "secret.destroy",
      "use_rule.create",
      "target.create",
      "target.update",
      "env.extend",
      "env.delete"
    ]
    for (const action of all) assert.isTrue(actions.has(action), action)
    assert.isAtLeast(rows.length, 25)
  })

  it.each(rows)("%s by a %s waits for a vote, and is made by it", async (_call, kind, endpoint) => {
    const { first, second } = pair
    const { ask, scene } = await prepareOn(first, endpoint, kind)
    const org = `/api/orgs/${scene.place.org_name}`
    const protection = `${org}/projects/webshop/envs/prod/protection`
    if (!endpoint.path.includes(":project_name")) await first.asRoot("POST", `${org}/projects`, { name: "webshop" })
    await first.asRoot("PUT", protection, { needed: 1, approvers: "owners", self: true })
    const send = async (headers: Readonly<Record<string, string>>, sent: unknown = ask.body) => {
      const { status, text } = await second.send({ ...ask, headers, body: sent })
      const body: Json = text === "" ? undefined : JSON.parse(text)
      return { status, body, text }
    }
    const refused = await send(scene.caller.headers)
    assert.deepStrictEqual([refused.status, refused.body?.error?.code], [409, "APPROVAL_REQUIRED"], refused.text)
    // Neither the glass nor a dry run is a way round: nothing is changed, so the request below finds all as it was.
    const glass = await send({ ...scene.caller.headers, "x-coffer-break-glass": "INC-12" })
    assert.deepStrictEqual([glass.status, glass.body?.error?.code], [403, "FORBIDDEN"], glass.text)
    if (typeof ask.body === "object") {
      const revisions = `${org}/projects/webshop/envs/prod/revisions`
      const before = await first.asRoot("GET", revisions)
      const dry = await send(scene.caller.headers, { ...ask.body, dry_run: true })
      assert.include(planning.has(endpoint.call) ? [200] : [400, 409], dry.status, dry.text)
      assert.deepStrictEqual(await first.asRoot("GET", revisions), before)
    }
    const asked = await send({ ...scene.caller.headers, prefer: "respond-async" })
    assert.strictEqual(asked.status, 202, asked.text)
    assert.strictEqual(asked.body.state, "pending")
    const made = await first.asRoot("POST", `${org}/requests/${asked.body.id}/approve`)
    assert.strictEqual(made.state, "done", JSON.stringify(made))
  })
})
