import * as Data from "effect/Data"

/** The environment has no such key, or the key has no value. */
export class MissingSecret extends Data.TaggedError("MissingSecret")<{
  readonly key: string
  /** ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** Why the server returned no value for a key that exists: its references are refused. Names keys and places only. */
  readonly refused?: string
  readonly message: string
}> {}

interface Failure {
  readonly message: string
  /** The seconds to wait before the next attempt, if the server sends them. */
  readonly retryAfter?: number
}

/** The errors by the reasons of the Promise core. No message contains a value. */
export const errors = {
  BadSetting: Data.TaggedError("BadSetting")<Failure>,
  DatabaseUnavailable: Data.TaggedError("DatabaseUnavailable")<Failure>,
  DecryptionFailed: Data.TaggedError("DecryptionFailed")<Failure>,
  EmptyEnvironment: Data.TaggedError("EmptyEnvironment")<Failure>,
  Forbidden: Data.TaggedError("Forbidden")<Failure>,
  InternalError: Data.TaggedError("InternalError")<Failure>,
  NotFound: Data.TaggedError("NotFound")<Failure>,
  Overloaded: Data.TaggedError("Overloaded")<Failure>,
  ServerUnreachable: Data.TaggedError("ServerUnreachable")<Failure>,
  SignInFailed: Data.TaggedError("SignInFailed")<Failure>,
  Unauthorized: Data.TaggedError("Unauthorized")<Failure>,
  UnexpectedResponse: Data.TaggedError("UnexpectedResponse")<Failure>,
  UnknownApiError: Data.TaggedError("UnknownApiError")<Failure>
} as const

/** Why the layer was not built: an option is wrong, or the first read failed. */
export type StartError = InstanceType<(typeof errors)[keyof typeof errors]>

/** Why a read failed. */
export type ReadError = Exclude<StartError, { readonly _tag: "BadSetting" | "EmptyEnvironment" }>
