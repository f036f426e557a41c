import { assert } from "vitest"
import { startServers } from "../support/postgres/Running.js"
import { isOnPostgres } from "../support/Services.js"
import { startWatched } from "../support/Watched.js"
import { scenesOn, type Stage } from "./Scene.js"

/** Two servers on one database, with scenes on the first. SQLite has one server, which is then both. */
export const startPair = async (settings: Readonly<Record<string, string>>) => {
  const running = isOnPostgres() ? await startServers(2, settings) : null
  const watched = running === null ? await startWatched(settings) : null
  const [first, second]: ReadonlyArray<Stage> = running?.servers ?? (watched === null ? [] : [watched, watched])
  if (first === undefined || second === undefined) return assert.fail("two servers were not started")
  return { first: await scenesOn(first), second, stop: async () => (running ?? watched)?.stop() }
}

export type Pair = Awaited<ReturnType<typeof startPair>>
