import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import { Socket } from "node:net"
import { GivenReplica } from "../../database/jobs/Replica.js"
import { type Handed, HandedConnections, type PemPair } from "../../http/Handed.js"
import { Listening } from "../../http/Listening.js"
import { causeText } from "../../base/logging/ErrorText.js"
import { uuidV4 } from "../../base/Uuid.js"
import { PageReader } from "../metrics/MetricsServer.js"
import { connection, type FromWorker, readToWorker, taken } from "./Messages.js"

/** The variables of a worker. */
type Variables = Readonly<Record<string, string>>

const send = (message: FromWorker | typeof taken): void => {
  // Without a callback, a message to a process that has just ended is an error event.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

/** Calls back with each value, also with those that came before a callback was set. */
const makeBuffer = <A>() => {
  const early: Array<A> = []
  let listener = (value: A): void => {
    early.push(value)
  }
  return {
    add: (value: A): void => {
      listener(value)
    },
    listen: (next: (value: A) => void): void => {
      listener = next
      early.splice(0).forEach(next)
    }
  } as const
}

/** The main process, as this worker hears of it. */
const listenToMain = () => {
  const sockets = makeBuffer<Socket>()
  const renewals = makeBuffer<PemPair>()
  const started = Deferred.unsafeMake<readonly [Variables, Handed]>(FiberId.none)
  const ended = Deferred.unsafeMake<void>(FiberId.none)
  const pages = makeBuffer<null>()

  const end = (): void => {
    Deferred.unsafeDone(ended, Effect.void)
  }
  const read = readToWorker((message) => {
    switch (message.type) {
      case "start": {
        const { certificate, settings } = message
        const handed = { certificate, onConnection: sockets.listen, onCertificate: renewals.listen }
        Deferred.unsafeDone(started, Effect.succeed([settings, handed]))
        return
      }
      case "certificate":
        renewals.add(message.pair)
        return
      case "page":
        pages.add(null)
        return
      case "end":
        end()
    }
  })
  process.on("message", (message: unknown, handle: unknown) => {
    if (message !== connection) {
      read(message)
      return
    }
    // There is no handle if the client has gone.
    if (handle instanceof Socket) sockets.add(handle)
    send(taken)
  })
  // Without the main process nothing more arrives.
  process.once("disconnect", end)
  return { started: Deferred.await(started), ended: Deferred.await(ended), onPage: pages.listen } as const
}

/**
 * Runs a worker: `serve` with the settings that the main process sends, until that ends it or is killed. Signals are for the main
 * process: a terminal, and systemd, send them to all processes, and connections must be handed over until the end.
 */
export const workerProgram = <E extends { readonly message: string }, R>(
  serve: (variables: Variables) => Effect.Effect<unknown, E, R>
): Effect.Effect<void, never, R> => {
  const main = listenToMain()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined)

  const serving = Effect.gen(function* () {
    const [variables, handed] = yield* main.started
    const replica = yield* uuidV4
    const runtime = yield* Effect.runtime()
    yield* serve(variables).pipe(
      Effect.provideService(GivenReplica, replica),
      Effect.provideService(HandedConnections, handed),
      Effect.provideService(Listening, () =>
        Effect.sync(() => {
          send({ type: "ready", replica })
        })
      ),
      Effect.provideService(PageReader, (page) =>
        Effect.sync(() => {
          main.onPage(() => {
            Runtime.runFork(runtime)(
              Effect.map(page, (text) => {
                send({ type: "page", text })
              })
            )
          })
        })
      )
    )
  })

  const report = (exit: Exit.Exit<unknown, E>) =>
    Effect.sync(() => {
      if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return
      const [failure] = Cause.failures(exit.cause)
      const message = failure?.message ?? `unexpected error: ${causeText(exit.cause)}`
      send({ type: "failed", message, isDefect: failure === undefined, mayRestart: process.exitCode === undefined })
      process.exitCode ??= 1
    })

  const untilEnded = Effect.exit(Effect.raceFirst(serving, main.ended)).pipe(
    Effect.flatMap(report),
    Effect.zipRight(
      Effect.async<void>((resume) => {
        // After the messages that were sent.
        setImmediate(() => {
          if (process.connected) process.disconnect()
          resume(Effect.void)
        })
      })
    )
  )
  return Effect.uninterruptible(Effect.flatMap(Effect.forkDaemon(Effect.interruptible(untilEnded)), Fiber.join))
}
