import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { ReferenceRefused } from "@coffer/domain/errors/Errors"
import { connectTo } from "./Connection.js"
import type { Credential } from "./Credential.js"
import type { Exchange } from "./Exchange.js"
import { type BundleResponse, type CallFailure, type EnvNames, readBundleOf } from "./SecretCalls.js"
import type { ServerUrl } from "./ServerUrl.js"

/** Reads the secrets of an environment for `coffer run`. */
export interface BundleRequest {
  readonly server: ServerUrl
  readonly credential: Credential
  readonly version: string
  readonly path: EnvNames
  /** The keys to read; empty means all. */
  readonly keys: ReadonlyArray<string>
}

export interface BundleSecret {
  readonly key: string
  readonly value: Redacted.Redacted
}

export interface FetchedBundle {
  /** Pass it to the next `pollBundle`, which then returns "unchanged" until a secret changes. */
  readonly etag: string | undefined
  readonly secrets: ReadonlyArray<BundleSecret>
}

export type PollResult = { readonly type: "unchanged" } | { readonly type: "bundle"; readonly bundle: FetchedBundle }

/** `ServerUnreachable` means that no response came, or an incomplete one. */
export type BundleFailure = CallFailure

/** Fails if references of some keys lead to no value. */
const requireComplete = Effect.fnUntraced(function* ({
  bundle: { refused, secrets },
  etag
}: BundleResponse): Effect.fn.Return<FetchedBundle, ReferenceRefused> {
  if (refused.length === 0) return { etag, secrets }
  const { ReferenceRefused } = yield* Effect.promise(() => import("@coffer/domain/errors/Errors"))
  return yield* new ReferenceRefused({ message: refused.map(({ message }) => message).join("; ") })
})

const read = (
  { credential, keys, path, server, version }: BundleRequest,
  etag: string | undefined,
  sender: (exchange: Exchange) => Exchange["send"]
): Effect.Effect<Option.Option<FetchedBundle>, BundleFailure> =>
  connectTo({ server, credential: Option.some(credential), program: "cli", version }).pipe(
    Effect.flatMap((exchange) => readBundleOf(exchange, sender(exchange), path, { keys, etag })),
    Effect.scoped,
    Effect.flatMap(
      Option.match({ onNone: () => Effect.succeedNone, onSome: (found) => Effect.asSome(requireComplete(found)) })
    )
  )

/** Reads the bundle without retries. With an ETag, returns "unchanged" if no secret has changed since. */
export const pollBundle = (
  request: BundleRequest,
  etag: string | undefined
): Effect.Effect<PollResult, BundleFailure> =>
  Effect.map(
    read(request, etag, ({ once }) => once),
    Option.match({
      onNone: (): PollResult => ({ type: "unchanged" }),
      onSome: (bundle) => ({ type: "bundle", bundle })
    })
  )

/** Reads the bundle. Retries at most twice after transient errors. */
export const readBundle = (request: BundleRequest): Effect.Effect<FetchedBundle, BundleFailure> =>
  Effect.flatMap(
    read(request, undefined, ({ send }) => send),
    Option.match({ onNone: () => Effect.dieMessage("unchanged, without an ETag"), onSome: Effect.succeed })
  )
