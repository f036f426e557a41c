import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Database } from "../Database.js"
import { Erasures } from "../Erasures.js"
import { query } from "../Query.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { connectWith, type Reached, refusedBy } from "./Reach.js"

/** The server behind the database, for a connection beside the pool. */
export class PostgresServer extends Context.Tag("@coffer/server/PostgresErasures/PostgresServer")<
  PostgresServer,
  Reached
>() {}

const DueRow = Schema.Struct({ id: Schema.String })
const RightRow = Schema.Struct({ may: Schema.Number })

/**
 * A destroyed data key is gone from its row at once. The row's earlier version stays in the table until VACUUM, which the
 * hourly maintenance runs; the write-ahead log, its archives and the standbys keep it for their retention.
 */
export const PostgresErasuresLive = Layer.effect(
  Erasures,
  Effect.gen(function* () {
    const { transaction } = yield* Database
    const { all, first, one, write } = yield* query
    const { config } = yield* PostgresServer
    const due = first(DueRow)`SELECT id FROM erasures LIMIT 1`

    /** VACUUM keeps the rows that the oldest snapshot sees, so only the erasures before it are done afterwards. */
    const dueBeforeSnapshots = all(DueRow)`
      SELECT id FROM erasures
      WHERE age(xmin) > (SELECT coalesce(max(age(backend_xmin)), 0) FROM pg_stat_activity)
      ORDER BY id LIMIT 1000`

    const right = one(RightRow)`
      SELECT pg_has_role(relowner, 'USAGE') AS may FROM pg_class WHERE oid = 'secret_versions'::regclass`

    const insert = write`INSERT INTO erasures (id, created_at) VALUES (${"id"}, ${"now"})`
    const remove = write`DELETE FROM erasures WHERE id = ANY(string_to_array(${"ids"}, ','))`

    /** On a connection beside the pool, whose statements have a time limit. */
    const vacuum = Effect.scoped(
      Effect.flatMap(connectWith(config), (client) =>
        Effect.tryPromise({ try: () => client.query("VACUUM secret_versions"), catch: refusedBy })
      )
    )

    const finish: Effect.Effect<void> = Effect.gen(function* () {
      const found = yield* dueBeforeSnapshots({})
      if (found.length === 0) return
      if ((yield* right({})).may === 0) {
        return yield* Effect.logWarning(
          "destroyed versions wait for VACUUM, which the server's role may not run: let the owner of the tables run VACUUM secret_versions regularly"
        )
      }
      yield* vacuum
      yield* transaction(remove({ ids: found.map(({ id }) => id).join(",") }))
      yield* Effect.logInfo(`VACUUM removed the destroyed versions of ${found.length} erasures`)
    }).pipe(Effect.catchAll(({ reason }) => Effect.logError(`VACUUM failed and is retried within the hour: ${reason}`)))

    return Erasures.of({
      note: Effect.gen(function* () {
        yield* insert({ id: yield* uuidV7, now: yield* now })
      }),
      erase: () => Effect.succeed("pending"),
      finish,
      state: Effect.map(due({}), (row) => (row === undefined ? "now" : "pending"))
    })
  })
)
