/** The first word of a worker's command line. The number of all workers of its server and its own follow. */
export const workerWord = "worker"

export interface WorkerRole {
  /** The workers of the server. */
  readonly workers: number
  /** From 1. */
  readonly number: number
}

const countForm = /^[1-9][0-9]?$/

/** The role in the words of a command; null if they are not a worker's. */
export const workerRole = ([first, workers = "", number = "", ...rest]: ReadonlyArray<string>): WorkerRole | null =>
  first === workerWord && countForm.test(workers) && countForm.test(number) && rest.length === 0
    ? { workers: Number(workers), number: Number(number) }
    : null

/** The role of this process; null if it is not a worker. */
export const ownRole = workerRole(process.argv.slice(2))

/** This process's part of what the workers of a server share: the whole, unless it is one of several workers. */
export const ownPart = (whole: number): number => Math.max(1, Math.ceil(whole / (ownRole?.workers ?? 1)))
