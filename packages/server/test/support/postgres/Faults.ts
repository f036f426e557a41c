import { Effect } from "effect"
import { Client, type QueryConfig } from "pg"

/** Makes one statement fail: the `at`-th from now, the first being 1; 0 is none. */
interface Fault {
  at: number
  hit: boolean
  /** The text that runs instead of the statement. */
  instead?: string
}

/** The faults of the databases of tests, by their names. */
const faults = new Map<string, Fault>()

const isCommand = (text: string): boolean => /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(text)

const query = Object.getOwnPropertyDescriptor(Client.prototype, "query")?.value as (...all: Array<unknown>) => unknown

/** A statement that is cancelled, as by an operator or by `statement_timeout`. */
export const cancelled = "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(5)"

/** Statements of a server may be made to fail on the database's side; what begins and ends transactions may not. */
Client.prototype.query = function (this: Client, statement: QueryConfig | string, ...rest: ReadonlyArray<unknown>) {
  const fault = faults.get(this.database ?? "")
  const isAsked = typeof statement !== "string" && "query_timeout" in statement && !isCommand(statement.text)
  if (fault === undefined || !isAsked || fault.at === 0 || --fault.at > 0) return query.call(this, statement, ...rest)
  fault.hit = true
  return query.call(this, { text: fault.instead ?? "SELECT 1 / 0" }, ...rest)
} as Client["query"]

/** Breaks statements on a database as `fault` says, until the scope ends. */
export const breaking = (url: string, fault: Fault) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const name = new URL(url).pathname.slice(1)
      faults.set(name, fault)
      return name
    }),
    (name) => Effect.sync(() => faults.delete(name))
  )
