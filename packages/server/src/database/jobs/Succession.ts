import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { endProcess } from "../../base/ProcessEnd.js"
import { Database } from "../Database.js"

/** Ends this process when the database goes on without it. */
export const SuccessionLive = Layer.scopedDiscard(
  Effect.flatMap(Database, ({ superseded }) =>
    superseded.pipe(
      Effect.tap(({ message }) => Effect.logError(message)),
      Effect.flatMap(endProcess),
      Effect.interruptible,
      Effect.forkScoped
    )
  )
)
