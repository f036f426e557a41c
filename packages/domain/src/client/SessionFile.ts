import { Effect, Either, Option, type Redacted, Schema } from "effect"
import { privatePath, readPrivate, removePrivate, PrivateFileError, writePrivate } from "./PrivateFile.js"

const Sessions = Schema.parseJson(
  Schema.Record({ key: Schema.String, value: Schema.Redacted(Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]+$/))) }),
  { space: 2 }
)
type Sessions = typeof Sessions.Type

const decode = Schema.decodeUnknownEither(Sessions)
const encode = Schema.encodeSync(Sessions)

const path = privatePath("session")

const read = Effect.gen(function* () {
  const file = yield* path
  const text = yield* readPrivate(file)
  const none: Sessions = {}
  if (Option.isNone(text)) return none
  // What does not decode may hold a token, so the reason is not shown.
  return yield* Either.mapLeft(
    decode(text.value),
    () => new PrivateFileError({ message: `${file} is not a session file; remove it and run: coffer login` })
  )
})

const write = Effect.fnUntraced(function* (sessions: Sessions) {
  const file = yield* path
  if (Object.keys(sessions).length === 0) return yield* removePrivate(file)
  yield* writePrivate(file, `${encode(sessions)}\n`)
})

/** The token of the session at a server; each token goes back to the origin that issued it and nowhere else. */
export const readSession = (origin: string): Effect.Effect<Option.Option<Redacted.Redacted>, PrivateFileError> =>
  Effect.map(read, (sessions) => Option.fromNullable(Object.hasOwn(sessions, origin) ? sessions[origin] : undefined))

/** Keeps the token of a session, over the one that was there for the origin. */
export const storeSession = (origin: string, token: Redacted.Redacted): Effect.Effect<void, PrivateFileError> =>
  Effect.flatMap(read, (sessions) => write({ ...sessions, [origin]: token }))

/** Forgets the session at a server; the file goes with the last one. */
export const forgetSession = (origin: string): Effect.Effect<void, PrivateFileError> =>
  Effect.flatMap(read, (sessions) =>
    write(Object.fromEntries(Object.entries(sessions).filter(([other]) => other !== origin)))
  )
