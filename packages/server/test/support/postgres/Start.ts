import type { TestProject } from "vitest/node"
import { Cluster } from "./Cluster.js"

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the PostgreSQL server of the tests, without a database; absent where tests run on SQLite. */
    postgres?: string
  }
}

/** Starts one PostgreSQL server for all tests of a run, and ends it after them. */
const start = async (project: TestProject): Promise<() => Promise<void>> => {
  const cluster = await Cluster.start()
  project.provide("postgres", cluster.url)
  return () => cluster.remove()
}

export default start
