import { type Sql, sql } from "../../database/Query.js"

/** The states of a request, of whatever kind. A request changes only while it is open: pending or approved. */
type RequestState = "pending" | "approved" | "used" | "done" | "refused" | "withdrawn" | "expired" | "outdated"

interface Transition {
  readonly from: ReadonlyArray<RequestState>
  readonly to: RequestState
}

/** The decisions of people and the use of an approval. None of them counts once the time of the request is over. */
export const decisions = {
  /** From now on, it can be used. */
  approve: { from: ["pending"], to: "approved" },
  /** The last vote approves, and makes what was asked for in its transaction. */
  apply: { from: ["pending"], to: "done" },
  use: { from: ["approved"], to: "used" },
  refuse: { from: ["pending"], to: "refused" },
  withdraw: { from: ["pending"], to: "withdrawn" }
} as const satisfies Readonly<Record<string, Transition>>

/** The ends that no decision brings: whether the time is over makes no difference to them. */
export const ends = {
  expire: { from: ["pending"], to: "expired" },
  /** Something that the request is bound to has changed. */
  outdate: { from: ["pending"], to: "outdated" },
  /** Whoever asked or approved has lost the login that it stands on. */
  revoke: { from: ["pending", "approved"], to: "refused" }
} as const satisfies Readonly<Record<string, Transition>>

const transitions = { ...decisions, ...ends }

type Decision = keyof typeof decisions
type End = keyof typeof ends

const quoted = (state: RequestState): string => `'${state}'`

// SQLite finds a partial index by `=`, not by `IN`.
const isOneOf = (column: string, states: ReadonlyArray<RequestState>): Sql<never> =>
  sql([`(${states.map((state) => `${column} = ${quoted(state)}`).join(" OR ")})`])

/** The state that an event leads to: `SET state = ${stateAfter("refuse")}`. */
export const stateAfter = (event: Decision | End): Sql<never> => sql([quoted(transitions[event].to)])

/** The condition under which a request ends: `WHERE ${mayEnd("revoke")}`. */
export const mayEnd = (event: End): Sql<never> => isOneOf("state", ends[event].from)

/**
 * Returns the condition of a decision, for a table whose `expires_at` is compared with `time`: `WHERE id = … AND ${may("use")}`. The
 * statement that changes the state has it, so that of two decisions at once one finds no row.
 *
 * @param state the expression of the state, in a table without such a column
 */
export const decidingBy =
  <Name extends string>(time: Sql<Name>, state = "state") =>
  (event: Decision): Sql<Name> =>
    sql`${isOneOf(state, decisions[event].from)} AND expires_at > ${time}`
