import type { Socket } from "node:net"

/** A process that takes connections: it answers each before it gets another, so that a busy one gets fewer. */
export interface Taker {
  readonly give: (socket: Socket) => void
}

/** How many connections wait for a worker. More are closed. */
const maxWaiting = 1_024

/**
 * Hands connections to workers in turn. A handle is kept until the worker has confirmed it: Node keeps one open that was on its way
 * to a process that is killed, and its client would wait for ever.
 */
export const makeHandOver = () => {
  const waiting: Array<Socket> = []
  /** The connection that each worker has not confirmed. The workers that have waited longest for one come first. */
  const takers = new Map<Taker, Socket | null>()

  const nextTaker = (): Taker | undefined => {
    for (const [taker, unconfirmed] of takers) if (unconfirmed === null) return taker
    return undefined
  }

  const distribute = (): void => {
    while (waiting.length > 0) {
      const taker = nextTaker()
      if (taker === undefined) return
      const socket = waiting.shift()
      if (socket === undefined || socket.destroyed) continue
      takers.delete(taker)
      takers.set(taker, socket)
      taker.give(socket)
    }
  }

  const confirm = (taker: Taker): void => {
    takers.get(taker)?.destroy()
  }

  return {
    /** Hands over a connection that nothing was read of. */
    offer: (socket: Socket): void => {
      socket.on("error", () => undefined)
      if (waiting.length >= maxWaiting) {
        socket.destroy()
        return
      }
      waiting.push(socket)
      distribute()
    },
    add: (taker: Taker): void => {
      takers.set(taker, null)
      distribute()
    },
    /** The worker has its last connection. */
    taken: (taker: Taker): void => {
      confirm(taker)
      if (takers.has(taker)) takers.set(taker, null)
      distribute()
    },
    /** The worker takes no more. A connection that it has not confirmed is closed: it may have read a request. */
    remove: (taker: Taker): void => {
      confirm(taker)
      takers.delete(taker)
    },
    /** Whether each connection has its worker. */
    isDone: (): boolean => waiting.length === 0 && [...takers.values()].every((socket) => socket === null),
    closeWaiting: (): void => {
      for (const socket of waiting.splice(0)) socket.destroy()
    }
  } as const
}

export type HandOver = ReturnType<typeof makeHandOver>
