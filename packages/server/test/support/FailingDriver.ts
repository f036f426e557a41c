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

interface Caller {
  readonly source?: string
  readonly database?: Sqlite.Database
}

type Call = (this: Caller, ...args: ReadonlyArray<unknown>) => unknown

/** Runs an effect while each statement on whichever connection of this process is looked at first. */
const looking = <A, E, R>(
  look: (text: string, caller: Caller, parameters: ReadonlyArray<unknown>) => void,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      calls.map(([owner, name]) => {
        const target = Object(owner)
        const call: Call = Reflect.get(target, name)
        Reflect.set(target, name, function (this: Caller, ...args: ReadonlyArray<unknown>) {
          look(this.source ?? String(args[0]), this, args)
          return Reflect.apply(call, this, args)
        })
        return () => Reflect.set(target, name, call)
      })
    ),
    () => effect,
    (undo) =>
      Effect.sync(() => {
        for (const restore of undo) restore()
      })
  )

const broken = () => new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR")

/**
 * Runs an effect while the `at`-th statement that matches fails as on a broken disk, on whichever connection of this process:
 * those of the driver's users too, as BEGIN and COMMIT. Tells how it ended, and which statement that was.
 */
export const failingStatement = <A, E, R>(at: number, effect: Effect.Effect<A, E, R>, matching = /^/) =>
  Effect.suspend(() => {
    const failed: { statement?: string } = {}
    let left = at
    const look = (text: string) => {
      if (!matching.test(text) || --left !== 0) return
      failed.statement = text
      throw broken()
    }
    return Effect.map(Effect.exit(looking(look, effect)), (exit) => ({ exit, statement: failed.statement }))
  })

/** A statement as the driver is given it. */
export interface Asked {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
}

/**
 * Runs an effect; tells the statements that ran meanwhile, on whichever connection of this process. What stands before each is
 * done right before it.
 */
export const statementsOf = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  before: (asked: Asked) => void = () => undefined
) =>
  Effect.suspend(() => {
    const seen: Array<Asked> = []
    const look = (text: string, _caller: Caller, parameters: ReadonlyArray<unknown>) => {
      const asked = { text: text.trim(), parameters }
      seen.push(asked)
      before(asked)
    }
    return Effect.map(looking(look, effect), (result) => ({ result, statements: seen }))
  })

/** Counts the statements that match while an effect runs. */
export const countingStatements = <A, E, R>(matching: RegExp, effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let count = 0
    const look = (text: string) => {
      if (matching.test(text)) count++
    }
    return Effect.map(looking(look, effect), (result) => ({ result, count }))
  })

/** A statement that fails: after how many that do not, and whether the engine then rolls the whole transaction back. */
export interface Fault {
  readonly after: number
  readonly rollsBack: boolean
}

/** Runs an effect while statements that write, or that begin or end a transaction or a part of one, fail now and then. */
export const failingNowAndThen = <A, E, R>(faults: ReadonlyArray<Fault>, effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const coming = [...faults]
    let passed = 0
    const look = (text: string, { database }: Caller) => {
      const [next] = coming
      if (next === undefined || !/^(BEGIN|SAVEPOINT|INSERT|RELEASE|ROLLBACK|COMMIT)/.test(text)) return
      if (passed++ < next.after) return
      passed = 0
      coming.shift()
      if (next.rollsBack && database?.inTransaction === true) database.prepare("ROLLBACK").run()
      throw broken()
    }
    return looking(look, effect)
  })
