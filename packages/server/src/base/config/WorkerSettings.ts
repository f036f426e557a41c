import { availableParallelism } from "node:os"
import * as Option from "effect/Option"
import type { Format } from "./SettingFormats.js"

const maxWorkers = 16
/** More workers need a larger pool than the default's, which the operator should choose. */
const maxAutomatic = 8

/** How many processes serve requests. */
export const workerCount: Format<number> = {
  rule: `must be auto or a whole number from 1 to ${maxWorkers}`,
  read: (text) =>
    text === "auto"
      ? Option.some(Math.min(availableParallelism(), maxAutomatic))
      : Option.liftPredicate(Number(text), (value) => /^[1-9][0-9]?$/.test(text) && value <= maxWorkers)
}

const defaultPool = 10
/** The default of each worker, with several of them. */
const connectionsEach = 4
/** Without a second connection, a snapshot would keep out everything else. */
export const leastConnections = 2

/** The size of the pools of all processes together, if the settings do not say it. */
export const poolFor = (workers: number): number =>
  workers === 1 ? defaultPool : Math.max(defaultPool, workers * connectionsEach + leastConnections)

/** The least size of the pools of all processes together. */
export const leastPool = (workers: number): number =>
  workers === 1 ? leastConnections : (workers + 1) * leastConnections

/** Divides the connections among the workers and the main process, whose jobs need half as many as a worker. */
export const dividePool = (connections: number, workers: number) => {
  const main = Math.max(leastConnections, Math.floor(connections / (2 * (workers + 1))))
  return { main, each: Math.floor((connections - main) / workers) } as const
}
