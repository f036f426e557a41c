/** The errors of the promise client. Its types name nothing of Effect: applications without it compile against them. */

/** Why an environment could not be read, or which part of the options is wrong. */
export type Reason =
  | "BadSetting"
  | "DatabaseUnavailable"
  | "DecryptionFailed"
  | "EmptyEnvironment"
  | "Forbidden"
  | "InternalError"
  | "NotFound"
  | "Overloaded"
  | "ServerUnreachable"
  | "SignInFailed"
  | "Unauthorized"
  | "UnexpectedResponse"
  | "UnknownApiError"

/** An option is wrong, or the server could not be read. `reason` says which error it was. */
export class CofferError extends Error {
  override readonly name = "CofferError"
  /** How many seconds the server asks to wait before the next request. */
  readonly retryAfter: number | undefined
  constructor(
    readonly reason: Reason,
    message: string,
    retryAfter?: number
  ) {
    super(message)
    this.retryAfter = retryAfter
  }
}

/** The environment has no such key, or the key has no value because its references are refused. */
export class MissingSecretError extends Error {
  override readonly name = "MissingSecretError"
  constructor(
    readonly key: string,
    readonly place: string,
    message: string
  ) {
    super(message)
  }
}
