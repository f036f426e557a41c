import type { ServerUnreachable, SignInFailed, UnexpectedResponse, UnknownApiError } from "./internal/ClientErrors.js"
import type { BadSetting } from "./internal/Variables.js"
import type {
  DatabaseUnavailable,
  DecryptionFailed,
  Forbidden,
  InternalError,
  NotFound,
  Overloaded,
  Unauthorized
} from "@coffer/domain/errors/Errors"
import { defined } from "@coffer/domain/base/Defined"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"

/** The environment has no such key, or the key has no value. */
export class MissingSecret extends Data.TaggedError("MissingSecret")<{
  readonly key: string
  /** ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** Why the server returned no value for a key that exists: its references are refused. Names keys and places only. */
  readonly refused?: string
}> {
  override get message() {
    const { key, place, refused } = this
    return refused === undefined ? `${key} does not exist in ${place}` : `${refused} (${place})`
  }
}

/** The secrets of a place, as a snapshot has them. */
interface SecretsAt {
  readonly place: string
  readonly values: ReadonlyMap<string, Redacted.Redacted>
  readonly refused: ReadonlyMap<string, string>
}

export const secretIn = (
  { place, refused, values }: SecretsAt,
  key: string
): Either.Either<Redacted.Redacted, MissingSecret> =>
  Either.fromNullable(
    values.get(key),
    () => new MissingSecret({ key, place, ...defined({ refused: refused.get(key) }) })
  )

/** The environment holds no secret at all, so the place is probably wrong. */
export class EmptyEnvironment extends Data.TaggedError("EmptyEnvironment")<{ readonly place: string }> {
  override get message() {
    return `place: ${this.place} holds no secrets`
  }
}

/** The errors of the contract that a read of an environment can meet. */
export type ReadApiError =
  DatabaseUnavailable | DecryptionFailed | Forbidden | InternalError | NotFound | Overloaded | Unauthorized

/** Why a read failed. No message contains a value. */
export type ReadError = ReadApiError | ServerUnreachable | SignInFailed | UnexpectedResponse | UnknownApiError

/** Why the layer was not built: an option is wrong, or the first read failed. */
export type StartError = BadSetting | EmptyEnvironment | ReadError
