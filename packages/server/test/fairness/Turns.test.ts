import { makeTurns } from "@coffer/server/http/Turns"
import { assert, describe, it } from "@effect/vitest"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"

/** A server whose requests take a millisecond each. */
const makeServer = () => {
  let millis = 0
  let turn: (() => void) | null = null
  const inTurn = makeTurns(
    () => millis,
    (next) => {
      turn = next
    }
  )
  const begun: Array<string> = []
  const arrive = (name: string, network: string, key?: string, tenant?: string) => {
    const source = new IncomingMessage(new Socket())
    if (key !== undefined) source.headers["x-api-key"] = key
    let learn: (tenant: string) => void = () => undefined
    inTurn({
      source,
      network,
      begin: () => {
        millis++
        begun.push(name)
        if (tenant !== undefined) learn(tenant)
      },
      onEnd: (found) => {
        learn = found
      }
    })
  }
  /** Runs a turn of the event loop. */
  const next = (): boolean => {
    const [current] = [turn]
    turn = null
    current?.()
    return current !== null
  }
  const drain = () => {
    while (next());
  }
  return { arrive, begun, next, drain }
}

describe("requests that arrive at once", () => {
  it("begin at once while the event loop has time, without a turn", () => {
    const { arrive, begun, next } = makeServer()
    arrive("a", "net")
    arrive("b", "net")
    assert.deepStrictEqual(begun, ["a", "b"])
    next()
    assert.isFalse(next())
  })

  it("of 200 connections of one tenant let another one's be the next but three", () => {
    const { arrive, begun, drain, next } = makeServer()
    for (let index = 0; index < 200; index++) arrive(`bulk ${index}`, "bulk's network")
    assert.strictEqual(begun.length, 3)
    arrive("other", "other's network")
    next()
    assert.isAtMost(begun.indexOf("other"), 3 + 1)
    drain()
    assert.strictEqual(begun.length, 201)
    assert.deepStrictEqual(
      begun.filter((name) => name !== "other"),
      Array.from({ length: 200 }, (_, index) => `bulk ${index}`)
    )
  })

  it("from one proxy are told apart by the tenants that their credentials had before", () => {
    const { arrive, begun, drain, next } = makeServer()
    const round = () => {
      for (let index = 0; index < 20; index++) arrive(`bulk ${index}`, "proxy", `key ${index % 5}`, "bulk")
      arrive("other", "proxy", "other's key", "other")
    }
    round()
    drain()
    assert.strictEqual(begun.indexOf("other"), 20)
    begun.length = 0
    round()
    next()
    assert.isAtMost(begun.indexOf("other"), 4)
    drain()
    assert.strictEqual(begun.length, 21)
  })

  it("of strangers from ever other networks let a known tenant's be the next but few, and get their turns beside it", () => {
    const { arrive, begun, drain, next } = makeServer()
    for (let index = 0; index < 4; index++) arrive(`learns ${index}`, "own network", "own key", "own")
    drain()
    begun.length = 0
    for (let index = 0; index < 200; index++) arrive(`stranger ${index}`, `network ${index}`)
    for (let index = 0; index < 10; index++) arrive(`own ${index}`, "own network", "own key", "own")
    next()
    assert.isAtMost(begun.indexOf("own 0"), 3 + 1)
    drain()
    const last = begun.indexOf("own 9")
    const before = begun.slice(0, last).filter((name) => name.startsWith("stranger"))
    assert.isAtMost(before.length, 3 + 11)
    assert.isAtLeast(before.length, 3 + 8)
    assert.strictEqual(begun.length, 210)
  })
})
