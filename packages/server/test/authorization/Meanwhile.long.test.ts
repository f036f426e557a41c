import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Endpoint } from "./Contract.js"
import { changing, type Loss, lossesOn, prepareOn } from "./Losses.js"
import { type Caller, restsOn, type Scenes, startScenes } from "./Scene.js"

// Rights and change are one: what is taken from a caller between the arrival of a request and its change keeps the change from
// happening, however late it is taken.

let server: Scenes

beforeAll(async () => {
  server = await startScenes()
})

afterAll(async () => {
  await server.stop()
})

/** Which tables have changed. */
const changedSince = (before: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...server.contents()].filter(([name, rows]) => before.get(name) !== rows).map(([name]) => name)

/** The last step of a call before which nothing has changed: the latest moment at which something can be taken. */
const lastStep = async (endpoint: Endpoint, kind: Caller["kind"]): Promise<number> => {
  const { ask } = await prepareOn(server, endpoint, kind)
  const before = server.contents()
  let last = 0
  const { status, text } = await server.ask(ask, {
    step: (step) => {
      if (changedSince(before).length === 0) last = step
      return undefined
    }
  })
  assert.isBelow(status, 300, `${kind}: ${text}`)
  assert.isNotEmpty(changedSince(before), `${kind}: it changes nothing even when nothing is taken`)
  return last
}

/** Makes a call while something is taken; it must be refused, and change nothing from then on. */
const assertRefused = async (
  endpoint: Endpoint,
  kind: Caller["kind"],
  [name, { before, happens, statuses }]: readonly [string, Loss],
  moment: number | "body"
) => {
  const { ask, scene } = await prepareOn(server, endpoint, kind)
  await before?.(scene)
  let after: ReadonlyMap<string, string> | undefined
  const take = async () => {
    await happens(scene)
    after = server.contents()
  }
  const { status, text } = await server.ask(
    ask,
    moment === "body" ? { body: take } : { step: (step) => (step === moment ? take() : undefined) }
  )
  const told = `${kind}, before ${moment}: ${name}: ${status} ${text}`
  if (after === undefined) return assert.fail(`nothing was taken: ${told}`)
  assert.include<unknown>(statuses, status, told)
  assert.deepStrictEqual(changedSince(after), [], told)
}

describe("a call changes nothing once its caller has lost the right to it, however late:", () => {
  it.each(changing.map((endpoint) => [endpoint.call, endpoint] as const))(
    "%s",
    async (_call, endpoint) => {
      const kinds = restsOn(endpoint).account ? (["user", "account"] as const) : (["user"] as const)
      for (const kind of kinds) {
        const last = await lastStep(endpoint, kind)
        assert.isAtLeast(last, 2, "the credential alone is looked at before the change")
        const taken = Object.entries(lossesOn(server)).filter(([, { concerns }]) => concerns(endpoint, kind))
        for (const loss of taken) await assertRefused(endpoint, kind, loss, last)
        // The server asks for the body when it has let the caller in.
        const [first] = taken
        if (endpoint.bodyLimit !== null && first !== undefined) await assertRefused(endpoint, kind, first, "body")
      }
    },
    300_000
  )
})
