import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { privatePath, readPrivate, PrivateFileError } from "./PrivateFile.js"

/** Tokens by origin; a JSON object in the file. */
export type Sessions = ReadonlyMap<string, Redacted.Redacted>

/** Written by hand, because loading schemas is too slow for `coffer run`. */
const decode = (text: string): Option.Option<Sessions> =>
  Option.flatMap(Option.liftThrowable((): unknown => JSON.parse(text))(), (found) => {
    if (!Predicate.isRecord(found)) return Option.none()
    const sessions = new Map<string, Redacted.Redacted>()
    for (const [origin, token] of Object.entries(found)) {
      if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) return Option.none()
      sessions.set(origin, Redacted.make(token))
    }
    return Option.some(sessions)
  })

export const sessionPath = privatePath("session")

/** The sessions of the file. */
export const readSessions = Effect.gen(function* () {
  const none: Sessions = new Map()
  // Without a home directory, no session can have been stored.
  const path = yield* Effect.option(sessionPath)
  if (Option.isNone(path)) return none
  const file = path.value
  const text = yield* readPrivate(file)
  if (Option.isNone(text)) return none
  // The decoding error is not shown, because it may contain a token.
  return yield* Effect.mapError(
    decode(text.value),
    () => new PrivateFileError({ message: `${file} is not a session file; remove it and run: coffer login` })
  )
})

/** Returns the session token for an origin. A token is sent only to the origin that issued it. */
export const readSession = (origin: string): Effect.Effect<Option.Option<Redacted.Redacted>, PrivateFileError> =>
  Effect.map(readSessions, (sessions) => Option.fromNullable(sessions.get(origin)))
