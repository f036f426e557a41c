import { once } from "node:events"
import { connect, createServer, type AddressInfo, type Server, Socket } from "node:net"
import { makeHandOver, type Taker } from "@coffer/server/operations/workers/HandOver"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

let server: Server
let hand: ReturnType<typeof makeHandOver>

beforeEach(async () => {
  hand = makeHandOver()
  server = createServer({ pauseOnConnect: true }, hand.offer).listen(0, "127.0.0.1")
  await once(server, "listening")
})

afterEach(() => {
  server.close()
})

const dial = async (): Promise<Socket> => {
  const { port } = server.address() as AddressInfo
  const accepted = once(server, "connection")
  const socket = connect(port, "127.0.0.1").on("error", () => undefined)
  await Promise.all([once(socket, "connect"), accepted])
  return socket
}

/** A worker that confirms what it gets only when the test does so. */
const makeTaker = (): Taker & { readonly got: Array<Socket> } => {
  const got: Array<Socket> = []
  return { got, give: (socket) => got.push(socket) }
}

const gone = async (socket: Socket): Promise<void> => {
  if (!socket.destroyed) {
    socket.resume()
    await once(socket, "close")
  }
}

describe("connections are handed to workers", () => {
  it("in turn, and a worker that does not confirm one gets no second one", async () => {
    const [busy, idle] = [makeTaker(), makeTaker()]
    hand.add(busy)
    hand.add(idle)
    for (let index = 0; index < 4; index++) {
      await dial()
      if (idle.got.length > 0) hand.taken(idle)
    }
    assert.lengthOf(busy.got, 1)
    assert.lengthOf(idle.got, 3)
    hand.taken(busy)
    await dial()
    await dial()
    assert.lengthOf(busy.got, 2)
    hand.taken(busy)
    hand.taken(idle)
    assert.isTrue(hand.isDone())
  })

  it("once there is a worker, and those of clients that have gone are left out", async () => {
    const patient = await dial()
    assert.isFalse(hand.isDone())
    const worker = makeTaker()
    hand.add(worker)
    assert.lengthOf(worker.got, 1)
    hand.taken(worker)
    await gone(patient)
  })

  it("and closed if the worker ends before it has confirmed it: its client must not wait for ever", async () => {
    const [killed, other] = [makeTaker(), makeTaker()]
    hand.add(killed)
    const lost = await dial()
    hand.add(other)
    const next = await dial()
    hand.remove(killed)
    await gone(lost)
    assert.isFalse(next.destroyed)
    assert.lengthOf(other.got, 1)
    hand.taken(other)
    await dial()
    assert.lengthOf(other.got, 2)
    hand.taken(other)
  })

  it("and closed if too many wait for a worker", () => {
    const sockets = Array.from({ length: 1_025 }, () => new Socket())
    sockets.forEach(hand.offer)
    assert.deepStrictEqual(
      sockets.filter(({ destroyed }) => destroyed),
      sockets.slice(-1)
    )
    assert.isFalse(hand.isDone())
    hand.closeWaiting()
    assert.isTrue(sockets.every(({ destroyed }) => destroyed))
    assert.isTrue(hand.isDone())
  })
})
