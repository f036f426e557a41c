import { ServerUnreachable, UnexpectedResponse } from "./internal/ClientErrors.js"
import type { Exchange } from "./internal/Exchange.js"
import { defined } from "@coffer/domain/base/Defined"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { EmptyEnvironment, type StartError } from "./Errors.js"
import { dropCopies, keepCopy, loadCopies } from "./Offline.js"
import { type Environment, makeEnvironment, readEnvironment } from "./Read.js"
import type { Resolved } from "./Resolve.js"

/** An environment and when the server last confirmed it, in milliseconds. */
export interface Confirmed {
  readonly environment: Environment
  readonly at: number
}

export const confirmedNow = (environment: Environment): Effect.Effect<Confirmed> =>
  Effect.map(Clock.currentTimeMillis, (at) => ({ environment, at }))

/** Names the option that is probably wrong, if the server was never reached. */
export const explain = (error: StartError): StartError => {
  const next = "check the option server"
  if (error._tag === "UnexpectedResponse") {
    if (error.isFromProxy) return error
    const { redirect, status, url } = error
    return new UnexpectedResponse({ next, status, url, ...defined({ redirect }) })
  }
  if (error._tag !== "ServerUnreachable" || error.next !== undefined) return error
  const { answered, reason, transient, url } = error
  return new ServerUnreachable({ answered, next, reason, transient, url })
}

const fromCopy = Effect.fnUntraced(function* (
  { connection, offline }: Resolved,
  failure: ServerUnreachable
): Effect.fn.Return<Confirmed, ServerUnreachable> {
  // Any response takes precedence over the copy.
  if (offline === undefined || failure.answered) return yield* failure
  const { answered, next, reason, transient, url } = failure
  const copies = yield* loadCopies
  const { age, refused, savedAt, secrets } = yield* Effect.mapError(
    copies.readCopy(offline.folder, connection, offline.maxAge),
    ({ message }) => {
      const steps = [...(next === undefined ? [] : [next]), `and offline: ${message}`]
      return new ServerUnreachable({ answered, next: steps.join("; "), reason, transient, url })
    }
  )
  yield* Effect.logWarning(
    `${failure.message}; using the offline copy of ${connection.place}, ${copies.showAge(age)} old`
  )
  return { environment: makeEnvironment(secrets, { refused }), at: savedAt }
})

/** The first values: the server's, or else those of the offline copy. */
export const firstValues = Effect.fnUntraced(function* (
  exchange: Exchange,
  resolved: Resolved
): Effect.fn.Return<Confirmed, StartError> {
  const { connection } = resolved
  const read = yield* Effect.either(readEnvironment(exchange, exchange.send, connection, undefined))
  if (read._tag === "Left") {
    if (read.left._tag === "ServerUnreachable") return yield* fromCopy(resolved, read.left)
    yield* dropCopies(resolved, read.left)
    return yield* read.left
  }
  const environment = Option.getOrElse(read.right, () => makeEnvironment([]))
  const isEmpty = environment.values.size === 0 && environment.refused.size === 0
  if (isEmpty && connection.keys.length === 0) return yield* new EmptyEnvironment({ place: connection.place })
  yield* keepCopy(resolved, environment)
  return yield* confirmedNow(environment)
})
