import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { verifyEveryLog } from "../../edges/trail/EveryLog.js"
import { Trail } from "../../edges/trail/Trail.js"
import { loadConfig, ServerConfig } from "../../base/Config.js"
import { query } from "../../database/Query.js"
import { inspect } from "../offline/OfflineFile.js"
import { DatabaseLive } from "../../database/sqlite/SqliteDatabase.js"
import { open } from "../../keys/Envelope.js"
import { InstanceLive } from "../../keys/Instance.js"
import { Keyring, KeyringLive } from "../../keys/Keyring.js"
import { eachVersion } from "../rotation/RotatedVersions.js"

const Request = Schema.Struct({ path: Schema.String, masterKey: Schema.Redacted(Schema.String) })

/** Reported problems are limited: a file that is damaged throughout has one for each row. */
const maxProblems = 20

const PointerRow = Schema.Struct({ id: Schema.String })

/** Finds secrets whose current version is not their newest stored one. */
const pointers = Effect.gen(function* () {
  const { all } = yield* query
  const astray = all(PointerRow)`
    SELECT s.id AS id FROM secrets s
    WHERE s.version <> coalesce((SELECT max(v.version) FROM secret_versions v WHERE v.secret_id = s.id), 0)
    LIMIT ${"limit"}`
  return (yield* astray({ limit: maxProblems })).map(({ id }) => `secret ${id} does not point to its newest version`)
})

const logs = Effect.map(verifyEveryLog, ({ problems }) => problems)

const versions = Effect.gen(function* () {
  const keyring = yield* Keyring
  const problems: Array<string> = []
  yield* eachVersion((binding, row) =>
    Effect.catchTag(open(keyring, binding, row), "DecryptionFailed", () =>
      Effect.sync(() => problems.push(`version ${binding.version} of secret ${binding.secretId} does not open`))
    )
  )
  return problems
})

/** The services of a server on this file. They check its schema and master key like at a start. */
const servicesAt = (path: string, masterKey: Redacted.Redacted) =>
  Trail.Default.pipe(
    Layer.provide(InstanceLive),
    Layer.provideMerge(DatabaseLive),
    Layer.provideMerge(KeyringLive),
    Layer.provide(
      Layer.effect(
        ServerConfig,
        loadConfig({ SERVICE_MASTER_KEY: Redacted.value(masterKey), SMTP_HOST: "log", SERVICE_DB_PATH: path })
      )
    )
  )

const check = Effect.gen(function* () {
  const { masterKey, path } = yield* Schema.decodeUnknown(Request)(workerData)
  const found = yield* inspect(path)
  if (found.problems.length > 0) return found
  const problems = yield* Effect.all([pointers, logs, versions]).pipe(
    Effect.map((all) => all.flat()),
    Effect.provide(servicesAt(path, masterKey)),
    // A server would not start with this database.
    Effect.catchTag("StartupError", ({ message }) => Effect.succeed([message]))
  )
  return { ...found, problems: problems.slice(0, maxProblems) }
})

// Lower the priority below that of requests. On Linux, 0 means this thread, not the process.
if (process.platform === "linux") setPriority(0, 10)

void Effect.runPromise(
  Effect.map(check, (result) => parentPort?.postMessage(result)).pipe(
    Effect.provide(Logger.remove(Logger.defaultLogger))
  )
)
