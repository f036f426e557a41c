import type { BundleFailure, BundleRequest, BundleSecret, FetchedBundle } from "@coffer/client/internal/BundleClient"
import type { ServerUnreachable } from "@coffer/client/internal/ClientErrors"
import * as OfflineCopies from "@coffer/client/internal/OfflineCopies"
import { statePath } from "@coffer/client/internal/PrivateFile"
import * as Effect from "effect/Effect"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import { beforeStart } from "./StartFailure.js"
import { NotStarted } from "./Start.js"

const folder = statePath("offline")

/** Replaces the copy by what the server returned. Failing to write the copy does not prevent the start. */
export const keepCopy = (
  request: BundleRequest,
  secrets: ReadonlyArray<BundleSecret>,
  maxAge: number
): Effect.Effect<void, never, Output> =>
  Effect.flatMap(folder, (root) => OfflineCopies.keepCopy(root, request, { secrets, refused: new Map() }, maxAge)).pipe(
    Effect.catchAll(({ message }) => note(`no copy is kept for --offline-fallback: ${message}`))
  )

/** Removes every copy of the place when the server said that the caller may not, or that it does not exist. */
export const dropWhenRefused = (request: BundleRequest, failure: BundleFailure): Effect.Effect<void, never, Output> =>
  OfflineCopies.isRefusal(failure)
    ? Effect.flatMap(folder, (root) => OfflineCopies.dropCopies(root, request)).pipe(
        Effect.catchAll(({ message }) => note(`the copy of --offline-fallback is still there: ${message}`))
      )
    : Effect.void

/** Falls back to the offline copy when the server could not be reached. */
const useCopy = Effect.fnUntraced(function* (request: BundleRequest, maxAge: number, failure: ServerUnreachable) {
  if (failure.answered) return yield* failure
  const found = yield* Effect.flatMap(folder, (root) => OfflineCopies.readCopy(root, request, maxAge)).pipe(
    // An application keeps such copies. No command starts without a value that it has asked for.
    Effect.filterOrFail(
      ({ refused }) => refused.size === 0,
      ({ refused }) => new OfflineCopies.NoCopy({ message: [...refused.values()].join("; ") })
    ),
    Effect.either
  )
  if (found._tag === "Left") {
    const { message } = yield* Effect.flip(beforeStart(failure))
    return yield* new NotStarted({ code: 125, message: `${message}; and offline: ${found.left.message}` })
  }
  const { age, secrets } = found.right
  yield* note(`${failure.message}; using the copy of its secrets, ${OfflineCopies.showAge(age)} old`)
  const fetched: FetchedBundle = { etag: undefined, secrets }
  return fetched
})

/**
 * Reads the secrets and keeps an encrypted copy of them. Uses the copy only if no response came at all: any response takes
 * precedence over the copy.
 */
export const withFallback = (
  read: Effect.Effect<FetchedBundle, BundleFailure>,
  request: BundleRequest,
  maxAge: number
): Effect.Effect<FetchedBundle, BundleFailure | NotStarted, Output> =>
  read.pipe(
    Effect.tap(({ secrets }) => keepCopy(request, secrets, maxAge)),
    Effect.tapError((failure) => dropWhenRefused(request, failure)),
    Effect.catchTag("ServerUnreachable", (failure) => useCopy(request, maxAge, failure))
  )
