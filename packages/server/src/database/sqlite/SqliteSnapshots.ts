import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { runThread } from "../../base/files/Thread.js"
import { Snapshots } from "../Snapshots.js"
import { DatabaseFile } from "./DatabaseFile.js"

const isProblems = Schema.decodeUnknown(Schema.Array(Schema.String))

export const SqliteSnapshotsLive = Layer.effect(
  Snapshots,
  Effect.map(DatabaseFile, ({ path }) =>
    Snapshots.of({
      write: (copyPath, { id, name }) =>
        Effect.flatMap(runThread("snapshot", [path, copyPath, id, name]), (posted) => Effect.orDie(isProblems(posted)))
    })
  )
)
