import * as Effect from "effect/Effect"
import { StartupError } from "../../base/StartupError.js"
import { connectWith, type Reached, refusedBy } from "./Reach.js"

/** The oldest release of PostgreSQL whose behaviour the server relies on. */
const oldestRelease = 14

interface Facts {
  readonly version: number
  readonly encoding: string
  readonly standby: number
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
}

const facts = `SELECT current_setting('server_version_num')::bigint AS version, current_setting('server_encoding') AS encoding,
  pg_is_in_recovery() AS standby, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit`

/** The settings with which an acknowledged write may be lost, and what then loses it. */
const weaknesses = (found: Facts): ReadonlyArray<string> => [
  ...(found.fsync === "off" ? ["fsync is off: a crash of the machine can lose or damage all data"] : []),
  ...(found.full_page_writes === "off" ? ["full_page_writes is off: a crash of the machine can damage the data"] : []),
  ...(found.synchronous_commit === "off"
    ? ["synchronous_commit is off: a crash of PostgreSQL loses the newest acknowledged writes"]
    : [])
]

/** Checks that a PostgreSQL server is a primary of a known release, and warns if it may lose acknowledged writes. */
export const checkServer = (at: Reached) =>
  Effect.gen(function* () {
    const client = yield* connectWith(at.config)
    const { rows } = yield* Effect.tryPromise({ try: () => client.query<Facts>(facts), catch: refusedBy })
    const [found] = rows
    if (found === undefined) return []
    const refuse = (reason: string) => new StartupError({ message: `the database ${at.name} ${reason}` })
    if (found.version < oldestRelease * 10_000) {
      return yield* refuse(`is PostgreSQL ${Math.floor(found.version / 10_000)}: it must be ${oldestRelease} or later`)
    }
    if (found.encoding !== "UTF8") return yield* refuse(`has the encoding ${found.encoding}: create it with UTF8`)
    if (found.standby === 1) return yield* refuse("is a standby: name the primary")
    return weaknesses(found)
  }).pipe(
    Effect.scoped,
    Effect.catchTag(
      "Refused",
      ({ reason }) => new StartupError({ message: `the database ${at.name} cannot be checked: ${reason}` })
    ),
    Effect.tap((found) => Effect.forEach(found, (weakness) => Effect.logWarning(`the database's setting ${weakness}`)))
  )
