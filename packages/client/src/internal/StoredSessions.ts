import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type PrivateFileError, removePrivate, writePrivate } from "./PrivateFile.js"
import { readSessions, sessionPath, type Sessions } from "./SessionFile.js"

const encode = (sessions: Sessions) =>
  JSON.stringify(Object.fromEntries([...sessions].map(([origin, token]) => [origin, Redacted.value(token)])), null, 2)

const write = Effect.fnUntraced(function* (sessions: Sessions) {
  const file = yield* sessionPath
  if (sessions.size === 0) return yield* removePrivate(file)
  yield* writePrivate(file, `${encode(sessions)}\n`)
})

/** Stores the session token of an origin; replaces an earlier one. */
export const storeSession = (origin: string, token: Redacted.Redacted): Effect.Effect<void, PrivateFileError> =>
  Effect.flatMap(readSessions, (sessions) => write(new Map([...sessions, [origin, token]])))

/** Removes the session of an origin, and the file when it is the last one. */
export const forgetSession = (origin: string): Effect.Effect<void, PrivateFileError> =>
  Effect.flatMap(readSessions, (sessions) => write(new Map([...sessions].filter(([other]) => other !== origin))))
