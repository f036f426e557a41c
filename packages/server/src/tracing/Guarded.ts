import { Cause, Exit, Predicate, Tracer } from "effect"

/** What may leave in a span. Everything else that a library or a feature notes on one is dropped. */
const allowed: ReadonlySet<string> = new Set([
  "http.request.method",
  "http.route",
  "http.response.status_code",
  "coffer.request_id",
  "error.type",
  "db.system.name",
  "db.operation.name",
  // The statements of this program, with placeholders: parameters are never part of it.
  "db.query.text"
])

/** The kind of an error, and nothing of its words: they name secrets, people and places. */
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

const withoutWords = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> =>
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
    // Log lines become events, and so do exceptions: neither is for a trace.
    event: () => undefined,
    addLinks: () => undefined,
    end: (endTime: bigint, exit: Exit.Exit<unknown, unknown>) => {
      end.call(span, endTime, failure === null ? withoutWords(exit) : Exit.die(new Failure(failure)))
    }
  })
}

/** The tracer, with spans that hold nothing but the attributes above and, of what failed, the kind. */
export const guarded = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (name, parent, context, _links, startTime, kind, options) =>
      guard(tracer.span(name, parent, context, [], startTime, kind, options)),
    context: tracer.context
  })
