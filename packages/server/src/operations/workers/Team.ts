import * as Effect from "effect/Effect"
import { addUp } from "../metrics/AddUp.js"
import { makeHandOver } from "./HandOver.js"
import { spawnWorker, type WorkerProcess } from "./WorkerProcess.js"

/** The workers of a server, as its main process has them. */
export const makeTeam = () => {
  const handOver = makeHandOver()
  const members = new Set<WorkerProcess>()
  /** The counters of workers that have ended. */
  let ended = ""

  return {
    handOver,
    spawn: (number: number, workers: number): WorkerProcess => {
      const worker = spawnWorker(number, workers, handOver)
      members.add(worker)
      return worker
    },
    /** Forgets a worker that has ended, but for what it counted. */
    forget: (worker: WorkerProcess): void => {
      if (members.delete(worker)) ended = addUp([], [ended, worker.lastPage()])
    },
    members: (): ReadonlyArray<WorkerProcess> => [...members],
    /** The page of the server, with that of the main process. */
    together: (own: string): Effect.Effect<string> =>
      Effect.map(
        Effect.forEach(members, ({ page }) => page, { concurrency: "unbounded" }),
        (pages) => addUp([own, ...pages], [ended])
      )
  } as const
}

export type Team = ReturnType<typeof makeTeam>
