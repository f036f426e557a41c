import type { BundleSecret } from "./internal/BundleClient.js"
import { SignInFailed, UnknownApiError } from "./internal/ClientErrors.js"
import { connectTo } from "./internal/Connection.js"
import type { Exchange } from "./internal/Exchange.js"
import type { CopySource } from "./internal/OfflineCopy.js"
import { type CallFailure, listSecrets, readBundleOf } from "./internal/SecretCalls.js"
import { defined } from "@coffer/domain/base/Defined"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { NotFound } from "@coffer/domain/errors/Errors"
import type { ReadError } from "./Errors.js"
import { version } from "./Version.js"

/** The environment to read, and the server and credential to read it with. */
export interface Connection extends CopySource {
  /** ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** The program, for the server's audit log. */
  readonly program: string
  /** The option or variable that names the credential, for messages. */
  readonly credentialFrom: string
}

/** An environment as the server returned it. */
export interface Environment {
  readonly etag: string | undefined
  readonly revision: number | undefined
  readonly secrets: ReadonlyArray<BundleSecret>
  readonly values: ReadonlyMap<string, Redacted.Redacted>
  readonly refused: ReadonlyMap<string, string>
}

export const makeEnvironment = (
  secrets: ReadonlyArray<BundleSecret>,
  more: Partial<Pick<Environment, "etag" | "refused" | "revision">> = {}
): Environment => ({
  etag: more.etag,
  revision: more.revision,
  secrets,
  values: new Map(secrets.map(({ key, value }) => [key, value])),
  refused: more.refused ?? new Map()
})

/** Connects to the server for as long as the scope. */
export const connect = ({ credential, program, server }: Connection): Effect.Effect<Exchange, never, Scope.Scope> =>
  connectTo({ server, credential: Option.some(credential), program, version })

/** The server's message for an unknown path. The configured address then has a path that is not the server's. */
const unknownPath = /^no such path/

const sentenceOf = ({ credentialFrom, server }: Connection, tag: string, message: string): string => {
  if (tag === "Unauthorized") {
    return `${credentialFrom}: ${server.base} refuses the credential: it is unknown, expired or revoked`
  }
  return unknownPath.test(message)
    ? `server: ${server.base} has no such path: check the option server`
    : `place: ${message}`
}

/**
 * The errors of a read, which name the option or variable that is probably wrong. Errors of other calls are unknown ones: a
 * newer server may send them.
 */
const toReadError = Effect.fnUntraced(function* (
  connection: Connection,
  failure: CallFailure
): Effect.fn.Return<never, ReadError> {
  switch (failure._tag) {
    case "DatabaseUnavailable":
    case "DecryptionFailed":
    case "InternalError":
    case "Overloaded":
    case "ServerUnreachable":
    case "SignInFailed":
    case "UnexpectedResponse":
    case "UnknownApiError":
      return yield* failure
    case "Forbidden":
    case "NotFound":
    case "Unauthorized": {
      const errors = yield* Effect.promise(() => import("@coffer/domain/errors/Errors"))
      const { _tag, message } = failure
      return yield* new errors[_tag]({ message: sentenceOf(connection, _tag, message) })
    }
    case "BadSetting":
      return yield* new SignInFailed({ reason: failure.message, next: "correct the setting" })
    default: {
      const { code, message, retryAfter, status } = failure
      return yield* new UnknownApiError({ code, message, status, ...defined({ retryAfter }) })
    }
  }
})

const read = (
  exchange: Exchange,
  send: Exchange["send"],
  { path }: Connection,
  query: Parameters<typeof readBundleOf>[3]
): Effect.Effect<Option.Option<Environment>, CallFailure> =>
  Effect.map(
    readBundleOf(exchange, send, path, query),
    Option.map(({ bundle: { refused, revision, secrets }, etag }) =>
      makeEnvironment(secrets, { etag, revision, refused: new Map(refused.map(({ key, message }) => [key, message])) })
    )
  )

/** The server refuses a read that names a missing key. The keys that exist are read then. */
const readExisting = Effect.fnUntraced(function* (
  exchange: Exchange,
  send: Exchange["send"],
  connection: Connection,
  refusal: NotFound
): Effect.fn.Return<Option.Option<Environment>, CallFailure> {
  const listed = new Set<string>((yield* listSecrets(exchange, connection.path)).data.map(({ key }) => key))
  const keys = connection.keys.filter((key) => listed.has(key))
  if (keys.length === connection.keys.length) return yield* refusal
  return keys.length === 0 ? Option.some(makeEnvironment([])) : yield* read(exchange, send, connection, { keys })
})

/**
 * Reads the environment. Returns none if it has not changed since the response with this ETag. A session that the server has ended
 * is renewed once.
 *
 * @param send whether to retry: `once` or `send` of the exchange
 */
export const readEnvironment = (
  exchange: Exchange,
  send: Exchange["send"],
  connection: Connection,
  etag: string | undefined
): Effect.Effect<Option.Option<Environment>, ReadError> =>
  read(exchange, send, connection, { keys: connection.keys, etag }).pipe(
    Effect.catchTag("NotFound", (refusal) =>
      connection.keys.length === 0 ? refusal : readExisting(exchange, send, connection, refusal)
    ),
    Effect.retry({
      times: 1,
      while: ({ _tag }) => _tag === "Unauthorized" && connection.credential.type === "federated"
    }),
    Effect.catchAll((failure) => toReadError(connection, failure)),
    Effect.withSpan("coffer.read", {
      kind: "client",
      captureStackTrace: false,
      attributes: { "coffer.place": connection.place, "server.address": new URL(exchange.url).hostname }
    })
  )
