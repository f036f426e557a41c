import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { runThread } from "../../base/files/Thread.js"
import type { DatabaseTarget } from "../../base/config/DatabaseUrl.js"
import { Snapshots } from "../Snapshots.js"
import { SnapshotRequest } from "./SnapshotRequest.js"

const isProblems = Schema.decodeUnknown(Schema.Array(Schema.String))

/** Snapshots of a PostgreSQL database: its tables, copied into an SQLite file at one moment. */
export const postgresSnapshots = (target: DatabaseTarget) =>
  Layer.succeed(Snapshots, {
    write: (path, mark) =>
      Effect.orDie(Schema.encode(SnapshotRequest)({ target, path, ...mark })).pipe(
        Effect.flatMap((request) => runThread("export", [], request)),
        Effect.flatMap((posted) => Effect.orDie(isProblems(posted)))
      )
  })
