import { hostname } from "node:os"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { uuidV4 } from "../../base/Uuid.js"

/** The version of this program. */
export class Version extends Context.Reference<Version>()("@coffer/server/Version", {
  defaultValue: () => "0.0.0-dev"
}) {}

/** The id that the process that started this one knows; null: the process chooses its own. */
export class GivenReplica extends Context.Reference<GivenReplica>()("@coffer/server/GivenReplica", {
  defaultValue: (): string | null => null
}) {}

/** This process, among the servers of one database. */
export class Replica extends Effect.Service<Replica>()("@coffer/server/Replica", {
  effect: Effect.gen(function* () {
    const id = (yield* GivenReplica) ?? (yield* uuidV4)
    return { id, host: hostname(), pid: process.pid, version: yield* Version } as const
  })
}) {}
