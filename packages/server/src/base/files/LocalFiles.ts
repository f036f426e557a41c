import { open } from "node:fs/promises"
import * as Effect from "effect/Effect"
import { type LocalFailure, localFailure } from "./LocalFailure.js"

/** Runs an operation on a file of this machine. */
export const local = <A>(work: () => Promise<A>): Effect.Effect<A, LocalFailure> =>
  Effect.tryPromise({ try: work, catch: localFailure })

/** Opens a file, which is for its owner only if it is new. The scope closes it. */
export const opened = (path: string, flags: string) =>
  Effect.acquireRelease(
    local(() => open(path, flags, 0o600)),
    (file) => Effect.promise(() => file.close())
  )

/** Flushes a file, or the renames in a directory, so that they survive a power loss. */
export const flushToDisk = (path: string): Effect.Effect<void, LocalFailure> =>
  Effect.scoped(Effect.flatMap(opened(path, "r"), (file) => local(() => file.sync())))
