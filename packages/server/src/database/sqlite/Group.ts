import * as Deferred from "effect/Deferred"
import * as FiberId from "effect/FiberId"
import { makeQueues } from "../Queues.js"

/** A full group takes no further change: COMMIT writes the whole group at once, and would block the event loop. */
const maxStatements = 1_000
const maxBytes = 1024 * 1024
const largeBytes = 128 * 1024
/** How long changes of a group may wait for others to join it. */
const maxMillis = 25

const sizeOf = (parameters: ReadonlyArray<unknown>): number => {
  let size = 0
  for (const parameter of parameters) {
    if (typeof parameter === "string" || parameter instanceof Uint8Array) size += parameter.length
  }
  return size
}

/** Makes a group of changes that are committed together, opened at a time in milliseconds. `done` completes once the group is on disk. */
export const makeGroup = (opened: number) => {
  let statements = 0
  let bytes = 0
  return {
    done: Deferred.unsafeMake<void>(FiberId.none),
    queues: makeQueues(),
    /** Counts a statement and the size of its parameters. */
    add: (parameters: ReadonlyArray<unknown>): void => {
      statements++
      bytes += sizeOf(parameters)
    },
    isFull: (): boolean => statements >= maxStatements || bytes >= maxBytes,
    /** Whether the group must be committed, although others could join it. */
    isOld: (now: number): boolean => now - opened >= maxMillis,
    /** Whether the commit takes long enough to need an event-loop tick of its own. */
    isLarge: (): boolean => bytes >= largeBytes
  } as const
}

export type Group = ReturnType<typeof makeGroup>
