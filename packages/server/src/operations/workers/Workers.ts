import type * as HttpServer from "@effect/platform/HttpServer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { uncleanEndOf } from "../../audit/UncleanEnds.js"
import { ServerConfig } from "../../base/Config.js"
import { endProcess } from "../../base/ProcessEnd.js"
import type { CertificatePair } from "../../http/Certificate.js"
import type { PemPair } from "../../http/Handed.js"
import { firstCertificate } from "../../http/NodeServer.js"
import { renewCertificate } from "../../http/Renewal.js"
import { listenFor } from "./Listener.js"
import { makeRestarts } from "./Restarts.js"
import type { Team } from "./Team.js"
import type { WorkerProcess } from "./WorkerProcess.js"

/** How long a worker may take for its requests in flight and its last audit entries. A supervisor is often less patient. */
const endPatience = "1 minute"

const pemOf = ({ options: { cert, key } }: CertificatePair): PemPair => ({
  cert: cert.toString("latin1"),
  key: key.toString("latin1")
})

/** Ends a worker in order, or kills it if it takes too long. */
const endInOrder = (worker: WorkerProcess) =>
  Effect.suspend(() => {
    worker.retire()
    worker.send({ type: "end" })
    return worker.ended
  }).pipe(
    Effect.timeoutTo({
      duration: endPatience,
      onTimeout: () =>
        Effect.logError(
          `worker ${worker.number} (process ${worker.pid}) did not end within a minute: it was killed`
        ).pipe(Effect.zipRight(Effect.sync(worker.kill)), Effect.zipRight(worker.ended)),
      onSuccess: Effect.succeed
    }),
    Effect.flatten
  )

/**
 * Runs the workers of a server, and listens for them. `variables` are their settings. A worker that ends is replaced. If one ends
 * because the database goes on without it, all end.
 */
export const workersLive =
  (team: Team, variables: Readonly<Record<string, string>>) =>
  <E, R>(announce: (address: HttpServer.Address) => Effect.Effect<void, E, R>) =>
    Layer.scopedDiscard(
      Effect.gen(function* () {
        const { host, port, tls, workers } = yield* ServerConfig
        const recordEnd = yield* uncleanEndOf
        let certificate: PemPair | null = null
        if (tls !== null) {
          const first = yield* firstCertificate(tls)
          certificate = pemOf(first)
          yield* renewCertificate(tls, first, (pair) => {
            certificate = pemOf(pair)
            for (const { send } of team.members()) send({ type: "certificate", pair: certificate })
          })
        }

        /** Starts a worker, and waits until it serves. Returns when that was, and the id of its heartbeat. */
        const begin = (number: number) =>
          Effect.gen(function* () {
            const worker = team.spawn(number, workers)
            worker.send({ type: "start", settings: variables, certificate })
            const replica = yield* Effect.tapError(worker.ready, () =>
              Effect.sync(() => {
                team.forget(worker)
              })
            )
            return { worker, replica, since: yield* Clock.currentTimeMillis }
          })

        /** Replaces a worker each time that it ends. */
        const keep = (first: Effect.Effect.Success<ReturnType<typeof begin>>) => {
          const delayOf = makeRestarts()
          const { number } = first.worker

          const replaced = (servedMillis: number): Effect.Effect<typeof first> =>
            Effect.suspend(() => {
              const delay = delayOf(servedMillis)
              return Effect.zipRight(Effect.sleep(delay), Effect.either(begin(number)))
            }).pipe(
              Effect.flatMap((next) =>
                next._tag === "Right"
                  ? Effect.as(
                      Effect.logInfo(`worker ${number} serves again, as process ${next.right.worker.pid}`),
                      next.right
                    )
                  : Effect.zipRight(Effect.logError(`worker ${number} cannot start: ${next.left.message}`), replaced(0))
              )
            )

          return Effect.iterate(first, {
            while: () => true,
            body: ({ replica, since, worker }) =>
              Effect.gen(function* () {
                const { failure, how } = yield* worker.ended
                team.forget(worker)
                if (failure?.isDefect === false) {
                  yield* Effect.logError(failure.message)
                  yield* endProcess(failure)
                  return yield* Effect.never
                }
                yield* Effect.logError(
                  `worker ${number} (process ${worker.pid}) ${how}${failure === null ? "" : `: ${failure.message}`}: another one is started`
                )
                yield* recordEnd(replica)
                return yield* replaced((yield* Clock.currentTimeMillis) - since)
              })
          })
        }

        yield* Effect.addFinalizer(() =>
          Effect.forEach(team.members(), (worker) => Effect.andThen(endInOrder(worker), () => team.forget(worker)), {
            concurrency: "unbounded",
            discard: true
          })
        )
        const first = yield* Effect.forEach(
          Array.from({ length: workers }, (_, index) => index + 1),
          begin,
          { concurrency: "unbounded" }
        )
        yield* Effect.forEach(first, (worker) => Effect.forkScoped(Effect.interruptible(keep(worker))), {
          discard: true
        })
        yield* announce(yield* listenFor(team.handOver, host, port))
      })
    )
