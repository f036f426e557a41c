import { OrgId, UserId } from "@coffer/domain/base/Ids"
import { lockStatements } from "@coffer/server/database/postgres/ScopeLocks"
import { orgScope, type Scope, serverScope, userScope } from "@coffer/server/database/Scopes"
import { Client } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Endpoint, endpointOf } from "../authorization/Contract.js"
import { changing, ending, type Loss, lossesOn, prepareOn, using } from "../authorization/Losses.js"
import { type OtherSide, otherSideSettings, startOtherSide } from "../authorization/OtherSide.js"
import { type Caller, restsOn, type Scene, sceneSettings, scenesOn, type Staged } from "../authorization/Scene.js"
import { serverUrl } from "../support/postgres/Databases.js"
import { startServers } from "../support/postgres/Running.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

// A call waits for the scope of its change before it reads anything: what is taken from its caller on another server while it
// waits keeps the change from happening, and nothing that is taken after it had its turn does.

let running: Awaited<ReturnType<typeof startServers>>
/** The server of the scenes and the losses, and the one of the calls. */
let first: Staged
let second: (typeof running)["servers"][number]
let locks: Client
/** Where requests with secrets go. */
let other: OtherSide

beforeAll(async () => {
  other = await startOtherSide()
  running = await startServers(2, { ...sceneSettings(), ...otherSideSettings })
  const [one, two] = running.servers
  if (one === undefined || two === undefined) return assert.fail("two servers were not started")
  first = await scenesOn(one)
  second = two
  locks = new Client({ connectionString: `${serverUrl()}/${running.name}` })
  await locks.connect()
})

afterAll(async () => {
  await locks.end()
  await running.stop()
  await other.stop()
})

/** The scope that the change of a call locks first. */
const scopeOf = async ({ path }: Endpoint, { caller, place }: Scene): Promise<Scope> => {
  if (path.startsWith("/api/users/")) return serverScope
  const isVote = /:request_id\/(approve|refuse)$/.test(path)
  if (isVote || !path.includes(":org_name")) return userScope(UserId.make(caller.id))
  const { rows } = await locks.query<{ id: string }>(
    "SELECT id FROM organizations WHERE name = $1 AND removed_at IS NULL",
    [place.org_name]
  )
  return orgScope(OrgId.make(rows[0]?.id ?? assert.fail("no organization")))
}

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Waits until so many statements wait for a scope, or `ended` says that a request has ended instead. */
const waiting = async (count: number, ended: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 4_000 && !ended(); tries++) {
    const { rows } = await locks.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`
    )
    if ((rows[0]?.waiting ?? 0) >= count) return
    await pause(5)
  }
  if (!ended()) assert.fail(`${count} requests should wait for a scope`)
}

/** How many scopes are held by what waits for one: others would wait for it, too. */
const heldByWaiting = async (): Promise<unknown> => {
  const { rows } = await locks.query(
    `SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid IN (
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory')`
  )
  return rows[0]
}

/** A request that was sent, and whether it has ended. */
const started = <A>(sent: Promise<A>) => {
  const state = { ended: false }
  const result = sent.finally(() => {
    state.ended = true
  })
  result.catch(() => undefined)
  return { result, ended: () => state.ended }
}

/** Runs a test while it holds the first scope of a call, which it releases with `release`. */
const holding = async <A>(scope: Scope, test: (release: () => Promise<unknown>) => Promise<A>): Promise<A> => {
  await locks.query(`BEGIN${lockStatements([scope])}`)
  let held = true
  const release = async () => {
    if (held) await locks.query("ROLLBACK")
    held = false
  }
  return test(release).finally(release)
}

/** Sets the scene of a call, and returns the request of its caller. */
const prepare = async (endpoint: Endpoint, kind: Caller["kind"]) => {
  const prepared = await prepareOn(first, endpoint, kind)
  if (endpoint.call !== using.call) return prepared
  await other.allow(first, prepared.scene)
  return { ...prepared, ask: { ...prepared.ask, body: other.body } }
}

/** These have several scopes, or several changes one after another. */
const inTwoSteps = [
  ...["consents", "delegations", "passkeys", "passkeys/verify"].map((path) => `POST /api/auth/${path}`),
  // These complete what they find, or write it in steps, before the change that counts.
  "POST /api/imports",
  "POST /api/imports/:import_id/finish",
  "POST /api/trash/:removed_id/restore",
  // It is refused, and then asked for.
  ending
]

/**
 * Tries a scene again if a server gave up a change that had waited for seconds: on a machine that stood still for so long, that
 * says nothing about a right.
 */
const tried = async <A>(scene: () => Promise<A>): Promise<A> => {
  for (let tries = 1; ; tries++) {
    try {
      return await scene()
    } catch (error) {
      if (tries === 3 || !String(error).includes("OVERLOADED")) throw error
    }
  }
}

/** The call waits first. Returns whether the loss waits behind it, in which case the call must succeed. */
const callFirst = async (endpoint: Endpoint, kind: Caller["kind"], name: string, loss: Loss): Promise<boolean> => {
  const { ask, scene } = await prepare(endpoint, kind)
  await loss.before?.(scene)
  return holding(await scopeOf(endpoint, scene), async (release) => {
    const call = started(second.send(ask))
    await waiting(1, call.ended)
    assert.deepStrictEqual(await heldByWaiting(), { held: 0 }, `${name} holds a scope while it waits for its first`)
    if (call.ended())
      assert.fail(`${kind}, ${name}: the call did not wait for its scope: ${JSON.stringify(await call.result)}`)
    const taken = started(loss.happens(scene))
    await waiting(2, taken.ended)
    const isBehind = !taken.ended()
    if (!isBehind) await taken.result
    await release()
    const { status, text } = await call.result
    const told = `${kind}, ${name}: ${status} ${text}`
    // In the other of its scopes or of its changes, the loss may have been first.
    const isServed = isBehind && !(inTwoSteps.includes(endpoint.call) && loss.statuses.some((one) => one === status))
    if (isServed) assert.isBelow(status, 300, told)
    else assert.include<unknown>(loss.statuses, status, told)
    // The call may have removed what the loss is about.
    await taken.result.catch(() => undefined)
    return isBehind
  })
}

/** The loss waits first, and the call behind it. */
const lossFirst = async (endpoint: Endpoint, kind: Caller["kind"], name: string, loss: Loss): Promise<void> => {
  const { ask, scene } = await prepare(endpoint, kind)
  await loss.before?.(scene)
  const arrived = other.arrived()
  await holding(await scopeOf(endpoint, scene), async (release) => {
    const taken = started(loss.happens(scene))
    await waiting(1, taken.ended)
    const call = started(second.send(ask))
    await waiting(2, call.ended)
    if (call.ended())
      assert.fail(`${kind}, ${name}: the call did not wait for its scope: ${JSON.stringify(await call.result)}`)
    await release()
    await taken.result
    const { status, text } = await call.result
    assert.include<unknown>(loss.statuses, status, `${kind}, ${name}, which came first: ${status} ${text}`)
    assert.strictEqual(other.arrived(), arrived, "nothing is sent without the right to it")
  })
}

/**
 * Whether a loss is one of the two that are met with a call, others with each, which show that the call reads nothing before it has its scope. What it then reads is
 * the same on both engines: `Meanwhile` takes everything from each call on SQLite, as a soak does here.
 */
const isChosen = (index: number, total: number, from: number): boolean =>
  isSoak || (index - from) % Math.ceil(total / 2) === 0

const met = new Set<string>()

describe("a call on one server changes nothing once its caller has lost the right to it on another:", () => {
  // Each call of backups reads the whole database before its change waits.
  const short = changing.filter(({ path }) => isSoak || !path.includes("/backups"))
  const calls = [...short, using].map((endpoint, at) => [endpoint.call, endpoint, at] as const)
  it.each(calls)("%s", async (_call, endpoint, at) => {
    const kinds = restsOn(endpoint).account ? (["user", "account"] as const) : (["user"] as const)
    for (const kind of kinds) {
      const losses = Object.entries(lossesOn(first)).filter(([, { concerns }]) => concerns(endpoint, kind))
      for (const [index, [name, loss]] of losses.entries()) {
        if (met.has(name) && !isChosen(index, losses.length, at)) continue
        const isBehind = await tried(() => callFirst(endpoint, kind, name, loss))
        if (isBehind) await tried(() => lossFirst(endpoint, kind, name, loss))
        met.add(name)
      }
    }
  })

  it("takes everything from some of the calls", () => {
    assert.sameMembers([...met], Object.keys(lossesOn(first)))
  })
})

describe("a rule that ends by the database's clock while a call waits", () => {
  const write = endpointOf("PUT /api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key")

  it("gives it no right, and one that ends later does", async () => {
    for (const [lasts, statuses] of [
      [1_000, [403]],
      [60_000, [200, 201]]
    ] as const) {
      const { ask, scene } = await prepare(write, "user")
      await locks.query(
        "UPDATE acl_rules SET expires_at = floor(extract(epoch FROM clock_timestamp()) * 1000) + $1 WHERE id = $2",
        [lasts, scene.caller.rule]
      )
      await holding(await scopeOf(write, scene), async (release) => {
        const call = started(second.send(ask))
        await waiting(1, call.ended)
        assert.isFalse(call.ended(), "the call was let in before it waits")
        await pause(1_100)
        await release()
        const { status, text } = await call.result
        assert.include<unknown>(statuses, status, text)
      })
    }
  })
})
