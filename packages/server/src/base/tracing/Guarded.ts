import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"

/** The attributes that are exported. All others are dropped, because libraries may put secrets or names into them. */
const allowed: ReadonlySet<string> = new Set([
  "http.request.method",
  "http.route",
  "http.response.status_code",
  "coffer.request_id",
  "error.type",
  "db.system.name",
  "db.operation.name",
  // Statements have placeholders; their parameters are not included.
  "db.query.text"
])

/** An error reduced to its type: its message and stack may name secrets, people and places. */
class Failure extends Error {
  override readonly name: string

  constructor(kind: string) {
    super(kind)
    this.name = kind
    this.stack = kind
  }
}

const kindOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag)
    ? error._tag
    : error instanceof Error
      ? error.constructor.name
      : typeof error

const withoutMessage = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> =>
  Exit.isSuccess(exit)
    ? Exit.void
    : Cause.isInterruptedOnly(exit.cause)
      ? exit
      : Exit.die(new Failure(kindOf(Cause.squash(exit.cause))))

const guard = (span: Tracer.Span): Tracer.Span => {
  const { attribute, end } = span
  let failure: string | null = null
  return Object.assign(span, {
    attribute: (key: string, value: unknown) => {
      if (key === "error.type") failure = String(value)
      if (allowed.has(key)) attribute.call(span, key, value)
    },
    // Log lines and exceptions become events, and may contain such names too.
    event: () => undefined,
    addLinks: () => undefined,
    end: (endTime: bigint, exit: Exit.Exit<unknown, unknown>) => {
      end.call(span, endTime, failure === null ? withoutMessage(exit) : Exit.die(new Failure(failure)))
    }
  })
}

/** Wraps a tracer: its spans have only the attributes above and the type of an error. */
export const guarded = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (name, parent, context, _links, startTime, kind, options) =>
      guard(tracer.span(name, parent, context, [], startTime, kind, options)),
    context: tracer.context
  })
