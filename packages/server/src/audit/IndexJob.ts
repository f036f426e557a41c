import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AuditIndex } from "./AuditIndex.js"

/** Completes the search index of the audit log before a server serves, and lets it follow the log while it does. */
export const AuditIndexJob = Layer.scopedDiscard(
  Effect.flatMap(AuditIndex, ({ begin, follow }) => Effect.zipRight(begin, Effect.forkScoped(follow)))
).pipe(Layer.provide(AuditIndex.Default))
