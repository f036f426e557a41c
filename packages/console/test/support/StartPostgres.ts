import type { TestProject } from "vitest/node"
import { Cluster } from "../../../server/test/support/postgres/Cluster.js"
import { startAll } from "./Start.js"

/** As `Start.ts`, with a server on PostgreSQL. */
export const setup = async (project: TestProject) => {
  const cluster = await Cluster.start()
  const end = await startAll(project, { SERVICE_DATABASE_URL: `${cluster.url}/postgres` })
  return async () => {
    await end()
    await cluster.remove()
  }
}
