import type { Exchange } from "./internal/Exchange.js"
import { warnOfClearText } from "./internal/ServerUrl.js"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { StartError } from "./Errors.js"
import { type Followed, follow } from "./Follow.js"
import { withoutCopy } from "./Offline.js"
import type { Options } from "./Options.js"
import { connect } from "./Read.js"
import { resolve } from "./Resolve.js"
import { explain } from "./Start.js"

interface Opened {
  readonly exchange: Exchange
  readonly followed: Followed
}

/** Reads the environment, then follows its changes until the scope ends. */
export const open = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Opened, StartError, Scope.Scope> {
  const resolved = yield* Effect.flatMap(resolve(options), withoutCopy)
  const { connection } = resolved
  yield* warnOfClearText(connection.server)
  const exchange = yield* connect(connection)
  return { exchange, followed: yield* follow(exchange, resolved) }
}, Effect.mapError(explain))
