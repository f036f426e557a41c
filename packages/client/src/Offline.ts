import * as Effect from "effect/Effect"
import type { ReadError } from "./Errors.js"
import type { Environment } from "./Read.js"
import type { Resolved } from "./Resolve.js"

/** Loaded late: most programs keep no copy. */
export const loadCopies = Effect.promise(() => import("./internal/OfflineCopies.js"))

/** Leaves the copy out for a session without a stored key: nothing would open a copy that it encrypts. */
export const withoutCopy = (resolved: Resolved): Effect.Effect<Resolved> =>
  resolved.offline === undefined || resolved.connection.credential.type !== "federated"
    ? Effect.succeed(resolved)
    : Effect.as(
        Effect.logWarning(
          "offline: no copy is kept: a copy needs a stored credential, and an account that signs in has none"
        ),
        { ...resolved, offline: undefined }
      )

const warnOf = ({ message }: { readonly message: string }) => Effect.logWarning(`offline: ${message}`)

/** Replaces the copy by the values that the server confirmed. Copies may hold values whose references are refused now. */
export const keepCopy = ({ connection, offline }: Resolved, environment: Environment): Effect.Effect<void> =>
  offline === undefined
    ? Effect.void
    : Effect.flatMap(loadCopies, (copies) =>
        Effect.zipRight(
          environment.refused.size === 0 ? Effect.void : copies.dropCopies(offline.folder, connection),
          copies.keepCopy(offline.folder, connection, environment, offline.maxAge)
        )
      ).pipe(Effect.catchAll(warnOf))

/** Removes every copy of the place if the server said that the caller may not read it, or that it does not exist. */
export const dropCopies = ({ connection, offline }: Resolved, failure: ReadError): Effect.Effect<void> =>
  offline === undefined
    ? Effect.void
    : Effect.flatMap(loadCopies, (copies) =>
        copies.isRefusal(failure) ? copies.dropCopies(offline.folder, connection) : Effect.void
      ).pipe(Effect.catchAll(warnOf))
