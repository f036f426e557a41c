import { makeLargeResponses } from "@coffer/server/http/LargeResponses"
import { assert, describe, it } from "@effect/vitest"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"

const mebibyte = 1024 * 1024

/** A server whose clients read nothing. */
const makeServer = () => {
  const clock = { millis: 0 }
  const memoryOf = makeLargeResponses(() => clock.millis)
  const ask = (tenant: string) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    const memory = memoryOf(response, { name: tenant })
    return {
      response,
      ...memory,
      /** Holds the memory of a response that is sent to a client that reads nothing. */
      send: (bytes: number): boolean => {
        const isHeld = memory.hold(bytes)
        if (isHeld) response.emit("prefinish")
        return isHeld
      }
    }
  }
  return { ask, clock, isSent: (tenant: string, bytes: number) => ask(tenant).send(bytes) }
}

describe("the memory of large responses", () => {
  it("is left to others by an organization whose clients read nothing, with any number of accounts and connections", () => {
    const { ask, isSent } = makeServer()
    const held = Array.from({ length: 40 }, () => isSent("slow", 7 * mebibyte)).filter((isHeld) => isHeld)
    assert.strictEqual(held.length, 2)
    // Two other bundles of the largest size are built beside them, and small ones.
    assert.isTrue(ask("one").hold(8 * mebibyte))
    assert.isTrue(ask("two").hold(8 * mebibyte))
    assert.isTrue(ask("three").hold(100 * 1024))
  })

  it("is that of the response itself: many small ones fit where few of the largest do", () => {
    const { isSent } = makeServer()
    assert.strictEqual(
      Array.from({ length: 200 }, () => isSent("one", 100 * 1024)).filter((isHeld) => isHeld).length,
      163
    )
  })

  it("is taken from the response that has waited longest, once it has waited for a second", () => {
    const { ask, clock } = makeServer()
    const [first, second] = [ask("slow"), ask("slow")]
    assert.isTrue(first.send(7 * mebibyte))
    clock.millis = 600
    assert.isTrue(second.send(7 * mebibyte))
    assert.isFalse(ask("slow").send(7 * mebibyte))
    clock.millis = 1_100
    assert.isTrue(ask("slow").send(7 * mebibyte))
    assert.isTrue(first.response.destroyed)
    assert.isFalse(second.response.destroyed)
    assert.isFalse(ask("slow").send(7 * mebibyte))
  })

  it("is taken from the asking organization itself if it has its share, and from all for one that holds nothing", () => {
    const { ask, clock } = makeServer()
    const first = ask("one")
    assert.isTrue(first.send(mebibyte))
    const [second, third] = [ask("two"), ask("two")]
    assert.isTrue(second.send(8 * mebibyte))
    clock.millis = 2_000
    assert.isTrue(third.send(8 * mebibyte))
    assert.deepStrictEqual([first.response.destroyed, second.response.destroyed], [false, true])
    assert.isTrue(ask("three").send(8 * mebibyte))
    clock.millis = 4_000
    assert.isTrue(ask("four").send(16 * mebibyte))
    assert.isTrue(first.response.destroyed)
  })

  it("is given back when a response was sent or its connection closed, and counted once", () => {
    const { ask } = makeServer()
    for (let round = 0; round < 20; round++) {
      const one = ask("one")
      assert.isTrue(one.hold(8 * mebibyte))
      assert.isTrue(one.send(12 * mebibyte))
      one.response.emit("close")
    }
  })
})
