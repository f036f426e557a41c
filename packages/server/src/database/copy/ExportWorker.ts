import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { connectWith, reach } from "../postgres/Reach.js"
import { faultsOf } from "../sqlite/Faults.js"
import { copyTables } from "./CopyTables.js"
import { writeNewFile } from "./NewFile.js"
import { command, postgresSource, readAtOnce } from "./PostgresSides.js"
import { silent } from "./Progress.js"
import { SnapshotRequest } from "./SnapshotRequest.js"

/** Copies the tables of a PostgreSQL database at one moment into a file, marks the file, and returns its faults. */
const exported = Effect.gen(function* () {
  const { id, name, path, target } = yield* Schema.decodeUnknown(SnapshotRequest)(workerData)
  const client = yield* connectWith((yield* reach(target)).config)
  yield* command(client, readAtOnce)
  const source = yield* postgresSource(client)
  const { checked } = yield* writeNewFile(
    path,
    (file) => copyTables(source, file, silent),
    (database) => {
      database.exec("CREATE TABLE backup (id TEXT NOT NULL, name TEXT NOT NULL) STRICT")
      database.prepare("INSERT INTO backup (id, name) VALUES (?, ?)").run(id, name)
      return faultsOf(database)
    }
  )
  return checked
}).pipe(
  Effect.scoped,
  // The words of SQLite, by which the other thread recognizes a full disk.
  Effect.catchTag("CopyFailed", ({ full, reason }) =>
    Effect.die(new Error(full ? "database or disk is full" : reason))
  ),
  Effect.catchTag("Refused", ({ reason }) => Effect.die(new Error(reason))),
  Effect.orDie
)

// On Linux, 0 means this thread, not the process: requests take priority over a copy.
if (process.platform === "linux") setPriority(0, 10)

void Effect.runPromise(
  Effect.map(exported, (problems) => parentPort?.postMessage(problems)).pipe(
    Effect.provide(Logger.remove(Logger.defaultLogger))
  )
)
