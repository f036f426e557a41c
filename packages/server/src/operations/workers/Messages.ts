import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

const PemPair = Schema.Struct({ cert: Schema.String, key: Schema.String })

/** Messages of the main process to a worker. A connection comes as its handle, with `connection`. */
const ToWorker = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("start"),
    settings: Schema.Record({ key: Schema.String, value: Schema.String }),
    certificate: Schema.NullOr(PemPair)
  }),
  Schema.Struct({ type: Schema.Literal("certificate"), pair: PemPair }),
  Schema.Struct({ type: Schema.Literal("page") }),
  Schema.Struct({ type: Schema.Literal("end") })
)
export type ToWorker = typeof ToWorker.Type

/** Messages of a worker, beside `taken`. */
const FromWorker = Schema.Union(
  /** It serves. `replica` is the id of its heartbeat. */
  Schema.Struct({ type: Schema.Literal("ready"), replica: Schema.String }),
  Schema.Struct({ type: Schema.Literal("page"), text: Schema.String }),
  /**
   * It ends, with a message for the operator. `isDefect`: nobody expected it. `mayRestart` says whether a supervisor may start the
   * server again.
   */
  Schema.Struct({
    type: Schema.Literal("failed"),
    message: Schema.String,
    isDefect: Schema.Boolean,
    mayRestart: Schema.Boolean
  })
)
export type FromWorker = typeof FromWorker.Type

/** Goes with the handle of a connection. */
export const connection = "connection"
/** Sent by a worker for each connection, so that the main process closes its own handle. */
export const taken = "taken"

const reading =
  <A, I>(schema: Schema.Schema<A, I>, use: (message: A) => void) =>
  (message: unknown): void => {
    Either.match(Schema.decodeUnknownEither(schema)(message), { onLeft: () => undefined, onRight: use })
  }

export const readToWorker = (use: (message: ToWorker) => void) => reading(ToWorker, use)
export const readFromWorker = (use: (message: FromWorker) => void) => reading(FromWorker, use)
