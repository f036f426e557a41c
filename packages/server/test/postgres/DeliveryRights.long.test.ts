import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endpointOf, targetBody } from "../authorization/Contract.js"
import { type Loss, lossesOn, prepareOn, pushing } from "../authorization/Losses.js"
import { otherSideSettings } from "../authorization/OtherSide.js"
import { type Caller, restsOn, type Scene, sceneSettings, scenesOn, type Staged } from "../authorization/Scene.js"
import { KvServer, token } from "../delivery/KvServer.js"
import { startServers } from "../support/postgres/Running.js"

// The server asks the platform what it has, for as long as that takes, and only then checks the right again, with its scope.

let running: Awaited<ReturnType<typeof startServers>>
/** The server of the scenes and the losses, and the one of the calls. */
let first: Staged
let second: (typeof running)["servers"][number]
let platform: KvServer

beforeAll(async () => {
  platform = await KvServer.start()
  running = await startServers(2, { ...sceneSettings(), ...otherSideSettings })
  const [one, two] = running.servers
  if (one === undefined || two === undefined) return assert.fail("two servers were not started")
  first = await scenesOn(one)
  second = two
})

afterAll(async () => {
  await running.stop()
  await platform.stop()
})

const targetOf = ({ place }: Scene) =>
  `/api/orgs/${place.org_name}/projects/webshop/envs/prod/targets/${place.target_name}`

/** Sets the scene of a call to a target that answers, and returns the request of its caller. */
const prepare = async (call: string, kind: Caller["kind"]) => {
  const { ask, scene } = await prepareOn(first, endpointOf(call), kind)
  const target = targetOf(scene)
  const [targets, secrets] = [target.replace(/\/[^/]+$/, ""), target.replace(/\/targets\/.+$/, "/secrets")]
  const at = { url: platform.url, mount: "secret", path: scene.place.org_name }
  await first.asRoot("PUT", `${secrets}/${scene.place.key}`, { value: token })
  await first.asRoot("PUT", `${secrets}/WEB`, { value: "long enough" })
  await first.asRoot("DELETE", target)
  await first.asRoot("POST", targets, { ...targetBody(scene.place.target_name, scene.place.key), place: at })
  const { plan } = await first.asRoot("POST", `${target}/plan`, {})
  return { scene, target, ask: call.endsWith("/push") ? { ...ask, body: { plan } } : ask }
}

/** Makes a call, and something happens while the platform is asked for what it has. */
const meanwhile = async (ask: Awaited<ReturnType<typeof prepare>>["ask"], happens: () => Promise<unknown>) => {
  let asked = false
  platform.before = async ({ method }) => {
    if (method !== "GET" || asked) return undefined
    asked = true
    await happens()
    return undefined
  }
  try {
    return await second.send(ask)
  } finally {
    platform.before = () => Promise.resolve(undefined)
    assert.isTrue(asked, "the platform was not asked")
  }
}

const assertRefused = async (call: string, kind: Caller["kind"], name: string, loss: Loss): Promise<void> => {
  const { ask, scene, target } = await prepare(call, kind)
  await loss.before?.(scene)
  const before = await first.asRoot("GET", target)
  const written = platform.writes().length
  const { status, text } = await meanwhile(ask, () => loss.happens(scene))
  const told = `${kind}, ${name}: ${status} ${text}`
  assert.include<unknown>(loss.statuses, status, told)
  assert.strictEqual(platform.writes().length, written, told)
  assert.notInclude(text, "WEB", told)
  // A removed place has no target to look at.
  const after = await first.send({ method: "GET", path: target, headers: first.root })
  if (after.status === 200) assert.deepStrictEqual(after.body, before, told)
}

describe("a call that asks a platform, when its caller loses the right to it on another server meanwhile:", () => {
  it.each(pushing.filter((call) => !call.endsWith("/plan")))(
    "%s is refused, and changes nothing here or there",
    async (call) => {
      const endpoint = endpointOf(call)
      const kinds = restsOn(endpoint).account ? (["user", "account"] as const) : (["user"] as const)
      let met = 0
      for (const kind of kinds) {
        const { ask } = await prepare(call, kind)
        const { status, text } = await meanwhile(ask, () => Promise.resolve())
        assert.isBelow(status, 300, `${kind}: ${text}`)
        for (const [name, loss] of Object.entries(lossesOn(first))) {
          if (!loss.concerns(endpoint, kind)) continue
          await assertRefused(call, kind, name, loss)
          met += 1
        }
      }
      assert.isAbove(met, 5)
    }
  )
})
