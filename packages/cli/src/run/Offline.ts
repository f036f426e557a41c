import type { BundleFailure, BundleRequest, BundleSecret, FetchedBundle } from "@coffer/client/internal/BundleClient"
import type { ServerUnreachable } from "@coffer/client/internal/ClientErrors"
import { readPrivate, removePrivateFolder, statePath, writePrivate } from "@coffer/client/internal/PrivateFile"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import { beforeStart } from "./Explain.js"
import { openCopy, sealCopy } from "./OfflineCopy.js"
import { NotStarted } from "./Start.js"

const hash = (parts: ReadonlyArray<string>) =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)

/** The folder of a place's copies: one for each choice of keys. Names say nothing of the place. */
const folderOf = ({ path, server }: BundleRequest) =>
  statePath(`offline/${hash([server.base, path.org_name, path.project_name, path.env_name])}`)

const fileOf = (request: BundleRequest) =>
  Effect.map(folderOf(request), (folder) => `${folder}/${hash([...request.keys].sort())}`)

/** A copy that was written less long ago than this is as good as new. */
const fresh = 15 * 60_000

const written = new Map<string, { readonly at: number; readonly secrets: ReadonlyArray<BundleSecret> }>()

/** Replaces the copy by what the server returned. Failing to write the copy does not prevent the start. */
export const keepCopy = (
  request: BundleRequest,
  secrets: ReadonlyArray<BundleSecret>
): Effect.Effect<void, never, Output> =>
  Effect.gen(function* () {
    const file = yield* fileOf(request)
    const now = yield* Clock.currentTimeMillis
    const last = written.get(file)
    if (last !== undefined && last.secrets === secrets && now - last.at < fresh) return
    yield* writePrivate(file, sealCopy(request, secrets, now))
    written.set(file, { at: now, secrets })
  }).pipe(Effect.catchAll(({ message }) => note(`no copy is kept for --offline-fallback: ${message}`)))

const refused = new Set([401, 403, 404])

/** A refused reference means that the copy may hold values of other environments which the caller may no longer read. */
const isRefusal = (failure: BundleFailure): boolean =>
  ("status" in failure && refused.has(failure.status)) || ("code" in failure && failure.code === "REFERENCE_REFUSED")

/** Removes every copy of the place when the server said that the caller may not, or that it does not exist. */
export const dropWhenRefused = (request: BundleRequest, failure: BundleFailure): Effect.Effect<void, never, Output> =>
  isRefusal(failure)
    ? Effect.flatMap(folderOf(request), removePrivateFolder).pipe(
        Effect.catchAll(({ message }) => note(`the copy of --offline-fallback is still there: ${message}`))
      )
    : Effect.void

const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1]
] as const

/** An age for people: its two largest units. */
export const showAge = (milliseconds: number): string => {
  let left = Math.floor(milliseconds / 1000)
  const parts = units.flatMap(([unit, seconds]) => {
    const count = Math.floor(left / seconds)
    left -= count * seconds
    return count === 0 ? [] : [`${count} ${unit}`]
  })
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ")
}

/** Tolerates a clock that was set back by up to five minutes. */
const slack = 5 * 60_000

const none = (why: string) => ({ type: "none", why }) as const

const readCopy = Effect.fnUntraced(function* (request: BundleRequest, maxAge: number) {
  const text = yield* readPrivate(yield* fileOf(request))
  if (Option.isNone(text)) return none("there is no copy yet")
  const copy = openCopy(request, text.value)
  if (Option.isNone(copy)) {
    return none("the copy was made with another credential, or is damaged")
  }
  const { savedAt, secrets } = copy.value
  const age = (yield* Clock.currentTimeMillis) - savedAt
  if (age < -slack) return none("the copy is from the future: check the clock")
  if (age > maxAge) {
    return none(`the copy is ${showAge(age)} old and may be ${showAge(maxAge)} old`)
  }
  return { type: "copy", age: Math.max(0, age), secrets } as const
})

/** What to do when the server could not be reached. */
const useCopy = Effect.fnUntraced(function* (request: BundleRequest, maxAge: number, failure: ServerUnreachable) {
  if (failure.answered) return yield* failure
  const found = yield* Effect.merge(Effect.mapError(readCopy(request, maxAge), ({ message }) => none(message)))
  if (found.type === "none") {
    const { message } = yield* Effect.flip(beforeStart(failure))
    return yield* new NotStarted({ code: 125, message: `${message}; and offline: ${found.why}` })
  }
  yield* note(`${failure.message}; using the copy of its secrets, ${showAge(found.age)} old`)
  const fetched: FetchedBundle = { etag: undefined, secrets: found.secrets }
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
    Effect.tap(({ secrets }) => keepCopy(request, secrets)),
    Effect.tapError((failure) => dropWhenRefused(request, failure)),
    Effect.catchTag("ServerUnreachable", (failure) => useCopy(request, maxAge, failure))
  )
