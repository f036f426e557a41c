import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { privatePath, readPrivate, type PrivateFileError } from "./PrivateFile.js"
import type { ServerUrl } from "./ServerUrl.js"

/** The path of the file that holds what is trusted: a line for each origin, and for each file. */
export const trustedPath = privatePath("trusted")

/** The lines of the file. Without a home directory, nothing can have been stored. */
export const readTrusted = Effect.gen(function* () {
  const path = yield* Effect.option(trustedPath)
  const text = Option.isNone(path) ? Option.none() : yield* readPrivate(path.value)
  return Option.match(text, {
    onNone: (): ReadonlyArray<string> => [],
    onSome: (lines) => lines.split("\n").filter((line) => line !== "")
  })
})

/** Whether API keys may be sent to this origin if it comes from `service.yml`. */
export const isTrusted = (origin: string): Effect.Effect<boolean, PrivateFileError> =>
  Effect.map(readTrusted, (lines) => lines.includes(origin))

/** This server comes only from `service.yml` and is not trusted yet, so no credential is sent. */
export class UntrustedServer extends Data.TaggedError("UntrustedServer")<{
  readonly origin: string
  readonly message: string
}> {}

/**
 * A cloned repository may contain a hostile `service.yml`, so a server from that file must be trusted before it gets a
 * credential.
 *
 * @param sent what would be sent there.
 */
export const refuseUntrusted = Effect.fnUntraced(function* (server: ServerUrl, sent: string) {
  const { base, local, origin, source } = server
  if (source !== "file" || local || (yield* isTrusted(origin))) return
  return yield* new UntrustedServer({
    origin,
    message: `${origin} comes from service.yml and is not trusted, so ${sent} is not sent there: set SERVICE_SERVER_URL=${base}, or run: coffer trust ${origin}`
  })
})
