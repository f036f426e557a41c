import type { TestProject } from "vitest/node"
import { startCluster } from "./Cluster.js"

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the PostgreSQL server of the tests, without a database; absent where tests run on SQLite. */
    postgres?: string
  }
}

/** Starts one PostgreSQL server for all tests of a run, and ends it after them. */
const start = async (project: TestProject): Promise<() => Promise<void>> => {
  const { stop, url } = await startCluster()
  project.provide("postgres", url)
  return stop
}

export default start
