import { Effect, Option, Redacted } from "effect"
import { privatePath, readPrivate, removePrivate, PrivateFileError, writePrivate } from "./PrivateFile.js"

/** Tokens by origin, as they are in the file: a JSON object. */
type Sessions = ReadonlyMap<string, Redacted.Redacted>

const isObject = (u: unknown): u is object => typeof u === "object" && u !== null && !Array.isArray(u)

/** By hand and not by a schema: a client that must start fast does not load those. */
const decode = (text: string): Option.Option<Sessions> =>
  Option.flatMap(Option.liftThrowable((): unknown => JSON.parse(text))(), (found) => {
    if (!isObject(found)) return Option.none()
    const sessions = new Map<string, Redacted.Redacted>()
    for (const [origin, token] of Object.entries(found)) {
      if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) return Option.none()
      sessions.set(origin, Redacted.make(token))
    }
    return Option.some(sessions)
  })

const encode = (sessions: Sessions) =>
  JSON.stringify(Object.fromEntries([...sessions].map(([origin, token]) => [origin, Redacted.value(token)])), null, 2)

const path = privatePath("session")

const read = Effect.gen(function* () {
  const file = yield* path
  const text = yield* readPrivate(file)
  const none: Sessions = new Map()
  if (Option.isNone(text)) return none
  // What does not decode may hold a token, so the reason is not shown.
  return yield* Effect.mapError(
    decode(text.value),
    () => new PrivateFileError({ message: `${file} is not a session file; remove it and run: coffer login` })
  )
})

const write = Effect.fnUntraced(function* (sessions: Sessions) {
  const file = yield* path
  if (sessions.size === 0) return yield* removePrivate(file)
  yield* writePrivate(file, `${encode(sessions)}\n`)
})

/** The token of the session at a server; each token goes back to the origin that issued it and nowhere else. */
export const readSession = (origin: string): Effect.Effect<Option.Option<Redacted.Redacted>, PrivateFileError> =>
  Effect.map(read, (sessions) => Option.fromNullable(sessions.get(origin)))

/** Keeps the token of a session, over the one that was there for the origin. */
export const storeSession = (origin: string, token: Redacted.Redacted): Effect.Effect<void, PrivateFileError> =>
  Effect.flatMap(read, (sessions) => write(new Map([...sessions, [origin, token]])))

/** Forgets the session at a server; the file goes with the last one. */
export const forgetSession = (origin: string): Effect.Effect<void, PrivateFileError> =>
  Effect.flatMap(read, (sessions) => write(new Map([...sessions].filter(([other]) => other !== origin))))
