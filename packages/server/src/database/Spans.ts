import type { SqlError } from "@effect/sql"
import { Clock, Context, Either, Exit, Fiber, FiberRef, Option, Tracer } from "effect"

/** Runs a statement at once, with a span as the toolkit's client makes one, where somebody traces. */
export const spanned = <A>(
  text: string,
  step: () => Either.Either<A, SqlError.SqlError>
): Either.Either<A, SqlError.SqlError> => {
  const fiber = Option.getOrUndefined(Fiber.getCurrentFiber())
  if (fiber?.getFiberRef(FiberRef.currentTracerEnabled) !== true) return step()
  const clock = Context.get(fiber.currentDefaultServices, Clock.Clock)
  const span = Context.get(fiber.currentDefaultServices, Tracer.Tracer).span(
    "sql.execute",
    Context.getOption(fiber.currentContext, Tracer.ParentSpan),
    Context.empty(),
    [],
    clock.unsafeCurrentTimeNanos(),
    "client"
  )
  span.attribute("db.system.name", "sqlite")
  span.attribute("db.operation.name", "execute")
  span.attribute("db.query.text", text)
  const done = step()
  span.end(clock.unsafeCurrentTimeNanos(), Either.match(done, { onLeft: Exit.fail, onRight: () => Exit.void }))
  return done
}
