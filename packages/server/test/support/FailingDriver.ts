import Sqlite from "better-sqlite3"
import { Effect } from "effect"

const probe = new Sqlite(":memory:")
const statements: unknown = Object.getPrototypeOf(probe.prepare("SELECT 1"))
probe.close()

/** Every way in which this process has SQLite do something. */
const calls: ReadonlyArray<readonly [owner: unknown, name: string]> = [
  ...["run", "get", "all"].map((name) => [statements, name] as const),
  [Sqlite.prototype, "exec"]
]

type Call = (this: { readonly source?: string }, ...args: ReadonlyArray<unknown>) => unknown

/**
 * Runs an effect while the `at`-th statement that matches fails as on a broken disk, on whichever connection of this process:
 * those of the driver's users too, as BEGIN and COMMIT. Tells how it ended, and which statement that was.
 */
export const failingStatement = <A, E, R>(at: number, effect: Effect.Effect<A, E, R>, matching = /^/) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const failed: { statement?: string } = {}
      let left = at
      const undo = calls.map(([owner, name]) => {
        const target = Object(owner)
        const call: Call = Reflect.get(target, name)
        Reflect.set(target, name, function (this: { readonly source?: string }, ...args: ReadonlyArray<unknown>) {
          const text = this.source ?? String(args[0])
          if (matching.test(text) && --left === 0) {
            failed.statement = text
            throw new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR")
          }
          return Reflect.apply(call, this, args)
        })
        return () => Reflect.set(target, name, call)
      })
      return { failed, undo }
    }),
    ({ failed }) => Effect.map(Effect.exit(effect), (exit) => ({ exit, statement: failed.statement })),
    ({ undo }) =>
      Effect.sync(() => {
        for (const restore of undo) restore()
      })
  )
