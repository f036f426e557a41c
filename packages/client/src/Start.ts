import { ServerUnreachable } from "./internal/ClientErrors.js"
import type { Exchange } from "./internal/Exchange.js"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { EmptyEnvironment, type ReadError, type StartError } from "./Errors.js"
import { dropCopies, keepCopy, loadCopies } from "./Offline.js"
import { type Connection, type Environment, makeEnvironment, readEnvironment } from "./Read.js"
import type { Resolved } from "./Resolve.js"

/** An environment and when the server last confirmed it, in milliseconds. */
export interface Confirmed {
  readonly environment: Environment
  readonly at: number
}

export const confirmedNow = (environment: Environment): Effect.Effect<Confirmed> =>
  Effect.map(Clock.currentTimeMillis, (at) => ({ environment, at }))

const because = ({ answered, reason, transient, url }: ServerUnreachable, more: string) =>
  new ServerUnreachable({ answered, reason: `${reason}; ${more}`, transient, url })

/** Names the option or variable that is probably wrong. */
const explain = Effect.fnUntraced(function* (
  { credentialFrom, server }: Connection,
  error: ReadError
): Effect.fn.Return<ReadError> {
  const { _tag, message } = error
  if (_tag === "ServerUnreachable") return because(error, "check the option server")
  if (_tag !== "Unauthorized" && _tag !== "Forbidden" && _tag !== "NotFound") return error
  const { Forbidden, NotFound, Unauthorized } = yield* Effect.promise(() => import("@coffer/domain/Errors"))
  switch (_tag) {
    case "Unauthorized":
      return new Unauthorized({ message: `${credentialFrom}: ${server.base} refuses the credential: ${message}` })
    case "Forbidden":
      return new Forbidden({ message: `place: ${message}` })
    case "NotFound":
      return new NotFound({ message: `place: ${message}` })
  }
})

const fromCopy = Effect.fnUntraced(function* (
  { connection, offline }: Resolved,
  failure: ServerUnreachable
): Effect.fn.Return<Confirmed, ServerUnreachable> {
  // Any response takes precedence over the copy.
  if (offline === undefined || failure.answered) return yield* because(failure, "check the option server")
  const copies = yield* loadCopies
  const { age, savedAt, secrets } = yield* Effect.mapError(
    copies.readCopy(offline.folder, connection, offline.maxAge),
    ({ message }) => because(failure, `and offline: ${message}`)
  )
  yield* Effect.logWarning(
    `${failure.message}; using the offline copy of ${connection.place}, ${copies.showAge(age)} old`
  )
  return { environment: makeEnvironment(secrets), at: savedAt }
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
    return yield* Effect.flip(explain(connection, read.left))
  }
  const environment = Option.getOrElse(read.right, () => makeEnvironment([]))
  const isEmpty = environment.values.size === 0 && environment.refused.size === 0
  if (isEmpty && connection.keys.length === 0) return yield* new EmptyEnvironment({ place: connection.place })
  yield* keepCopy(resolved, environment)
  return yield* confirmedNow(environment)
})
