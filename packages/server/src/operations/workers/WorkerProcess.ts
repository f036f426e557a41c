import { fork, type ChildProcess } from "node:child_process"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import { StartupError } from "../../base/StartupError.js"
import { standardError } from "../../base/logging/LogSink.js"
import { workerWord } from "../../base/WorkerShare.js"
import type { HandOver, Taker } from "./HandOver.js"
import { connection, type FromWorker, readFromWorker, taken, type ToWorker } from "./Messages.js"

/** How long the page of metrics waits for a worker. */
const pagePatience = "2 seconds"

/** Writes the log of a worker with that of this process: lines of several processes on one pipe may mix. */
const passLog = (child: ChildProcess): void => {
  let rest = ""
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) standardError.write(line)
    })
    .once("end", () => {
      if (rest !== "") standardError.write(rest)
    })
}

export interface Ended {
  /** Completes a sentence: "worker 2 …". */
  readonly how: string
  /** Set if it has ended itself. */
  readonly failure: Extract<FromWorker, { readonly type: "failed" }> | null
}

/** Starts one of the workers of a server, which waits for its settings. */
export const spawnWorker = (number: number, workers: number, handOver: HandOver) => {
  const child = fork(process.argv[1] ?? "", [workerWord, String(workers), String(number)], {
    stdio: ["ignore", "inherit", "pipe", "ipc"]
  })
  const ready = Deferred.unsafeMake<string, StartupError>(FiberId.none)
  const ended = Deferred.unsafeMake<Ended>(FiberId.none)
  let failure: Ended["failure"] = null
  let page = ""
  let isServing = false
  const onPage = new Set<(text: string) => void>()

  // Without a callback, a message to a process that has just ended is an error event.
  const ignored = (): void => undefined
  const send = (message: ToWorker): void => {
    if (child.connected) child.send(message, ignored)
  }
  const taker: Taker = {
    give: (socket) => {
      if (child.connected) child.send(connection, socket, { keepOpen: true }, ignored)
    }
  }

  const read = readFromWorker((message) => {
    switch (message.type) {
      case "ready":
        isServing = true
        handOver.add(taker)
        Deferred.unsafeDone(ready, Effect.succeed(message.replica))
        return
      case "page":
        page = message.text
        for (const answer of onPage) answer(page)
        onPage.clear()
        return
      case "failed":
        failure = message
        handOver.remove(taker)
    }
  })
  const end = (how: string): void => {
    isServing = false
    handOver.remove(taker)
    Deferred.unsafeDone(ready, new StartupError({ message: failure?.message ?? `worker ${number} ${how}` }))
    Deferred.unsafeDone(ended, Effect.succeed({ how, failure }))
  }
  passLog(child)
  child
    .on("message", (message) => {
      if (message === taken) handOver.taken(taker)
      else read(message)
    })
    .once("error", ({ message }) => {
      end(`could not be started: ${message}`)
    })
    .once("exit", (code, signal) => {
      end(signal === null ? `ended with the code ${code}` : `was killed by ${signal}`)
    })

  return {
    number,
    pid: child.pid ?? 0,
    send,
    /** Fails if it ends before it serves. Returns the id of its heartbeat. */
    ready: Deferred.await(ready),
    ended: Deferred.await(ended),
    /** Its page of metrics, or the last one that it sent. */
    page: Effect.async<string>((resume) => {
      if (!isServing) {
        resume(Effect.succeed(page))
        return
      }
      onPage.add((text) => {
        resume(Effect.succeed(text))
      })
      send({ type: "page" })
    }).pipe(Effect.timeoutOption(pagePatience), Effect.map(Option.getOrElse(() => page))),
    lastPage: (): string => page,
    /** Gives it no more connections. */
    retire: (): void => {
      handOver.remove(taker)
    },
    kill: (): void => {
      child.kill("SIGKILL")
    }
  } as const
}

export type WorkerProcess = ReturnType<typeof spawnWorker>
