import * as Effect from "effect/Effect"
import { Starting } from "../../base/Starting.js"
import type { ChangeLimits } from "./Begin.js"
import type { Limits } from "./Connection.js"

/** How long a process waits for its database, in milliseconds. */
export interface Patience extends Limits, ChangeLimits {
  /** For a connection: a free one of the pool, or a new one. */
  readonly connectMillis: number
}

/** A request must be answered within five seconds. */
const ofRequests: Patience = {
  connectMillis: 4_000,
  answerMillis: 4_500,
  commitMillis: 15_000,
  lockMillis: 4_000,
  statementMillis: 4_400
}

/** A busy machine may need as long to start many servers at once, each of which reads a large database. */
const ofStart: Patience = {
  connectMillis: 20_000,
  answerMillis: 30_000,
  commitMillis: 30_000,
  lockMillis: 20_000,
  statementMillis: 29_000
}

/** Returns the patience of the moment: of the start until that is over. */
export const patience: Effect.Effect<() => Patience> = Effect.map(
  Starting,
  (starting) => () => (starting.isOver ? ofRequests : ofStart)
)
