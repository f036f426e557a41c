import { randomUUID } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type { PostgresSettings } from "../../base/config/DatabaseSettings.js"
import { StartupError } from "../../base/StartupError.js"
import { Database } from "../Database.js"
import { isSuperseded, type Succession, Superseded } from "../Superseded.js"
import { mergeAuditTimes } from "./AuditTimes.js"
import { ofServer } from "./Begin.js"
import { statements } from "./Connection.js"
import { fenceCondition, type FenceNumber, openFence, successionOf } from "./DatabaseFence.js"
import { dialectOn } from "./Dialect.js"
import { PostgresServer } from "./PostgresErasures.js"
import { migrate, newestMigration, schemaState } from "./Migrations.js"
import { patience } from "./Patience.js"
import { makePool } from "./Pool.js"
import { type Reached, reach } from "./Reach.js"
import { sessionNameOf } from "./SessionName.js"
import { Replica } from "../jobs/Replica.js"
import { checkServer } from "./ServerChecks.js"
import { makeTransactions } from "./Transactions.js"

/** How long the database may be silent until the server is not ready: a blip must not take it out of a load balancer. */
const silenceMillis = 10_000
/** How long a probe of the readiness waits for the database. */
const probeMillis = 2_000

/** Finds a row if a newer program has made the schema unreadable for this one while it runs. */
const newerReader = (fence: FenceNumber) =>
  `SELECT 1 FROM schema_info WHERE ${fenceCondition(fence)} AND min_reader > ${newestMigration}`
const outdated = "a newer release has migrated the database, and this one cannot read it: upgrade this server"

/** Migrates the schema, or checks that it is current. */
const prepareSchema = (settings: PostgresSettings, at: Reached) =>
  Effect.gen(function* () {
    if (settings.migrate === "auto") {
      const migrator = settings.migrateTarget === null ? at : yield* reach(settings.migrateTarget)
      const { found, isDue, newest } = yield* migrate(migrator, { role: at.user })
      if (isDue) yield* Effect.logInfo(`migrated the database ${at.name} from schema ${found} to ${newest}`)
      return
    }
    const { found, isDue, newest } = yield* schemaState(at)
    if (isDue) {
      return yield* new StartupError({
        message: `the database ${at.name} has schema ${found}, and this program's is ${newest}: run coffer-server migrate`
      })
    }
  })

/** Opens a PostgreSQL database for the life of the scope, with its schema migrated. `id` names the sessions of this process. */
export const postgresDatabase = (settings: PostgresSettings, id: string = randomUUID()) =>
  Effect.gen(function* () {
    const at = yield* reach(settings.target)
    yield* checkServer(at)
    yield* prepareSchema(settings, at)
    const fence = yield* openFence(at)
    const moved = yield* Effect.makeLatch()
    const limits = yield* patience
    const compiled = statements(settings.prepared, limits)
    const pool = yield* makePool(
      {
        config: { ...at.config, application_name: sessionNameOf(id) },
        connections: settings.connections,
        patience: limits,
        onMoved: () => {
          moved.unsafeOpen()
        }
      },
      compiled
    )
    const { reading, silentMillis, unanswered } = pool
    const transactions = makeTransactions(pool, compiled, ofServer(fence, limits))

    const superseded: Effect.Effect<Succession> = Effect.flatMap(
      Effect.zipRight(moved.await, Effect.zipLeft(successionOf(at, fence), moved.close)),
      (found) => (found === null ? superseded : Effect.succeed(found))
    )

    const database = Database.of({
      ...dialectOn(reading, fenceCondition(fence)),
      ...transactions,
      pool: pool.state,
      isAwaited: () => pool.state().waiting > 0,
      reading,
      unready: reading.execute(newerReader(fence), [], undefined).pipe(
        Effect.timeout(probeMillis),
        Effect.exit,
        Effect.map((exit) => {
          if (Exit.isSuccess(exit)) return exit.value.length === 0 ? null : outdated
          if (isSuperseded(exit.cause)) return new Superseded().message
          unanswered()
          return silentMillis() < silenceMillis ? null : "the database does not respond"
        })
      ),
      // Autovacuum maintains the tables.
      maintain: mergeAuditTimes(transactions.transaction),
      superseded
    })
    return Context.make(Database, database).pipe(Context.add(PostgresServer, at))
  })

export const postgresLive = (settings: PostgresSettings) =>
  Layer.provide(
    Layer.scopedContext(Effect.flatMap(Replica, ({ id }) => postgresDatabase(settings, id))),
    Replica.Default
  )
