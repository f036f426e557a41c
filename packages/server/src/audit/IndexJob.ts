import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AuditIndex } from "./AuditIndex.js"

/** Lets the search index follow the audit log while a server runs. */
export const AuditIndexJob = Layer.scopedDiscard(
  Effect.flatMap(AuditIndex, ({ follow }) => Effect.forkScoped(follow))
).pipe(Layer.provide(AuditIndex.Default))
