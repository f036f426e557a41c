import type { ApiTag, ChangeRequested } from "./Contract.js"
import type { Reason } from "./CofferError.js"

/** Why a call failed: an error of the contract, of the connection, or `InvalidRequest` for a request that was not sent. */
export type CallReason = ApiTag | "InvalidRequest" | Reason

export interface CallFailure {
  /** The status of the response, if there was one. */
  readonly status?: number | undefined
  /** How many seconds the server asks to wait before the next request. */
  readonly retryAfter?: number | undefined
  /** With `ChangeRequested`: the request that waits for votes. */
  readonly request?: ChangeRequested | undefined
}

/** A call failed. `reason` says which error it was; no message contains a value. */
export class CallError extends Error {
  override readonly name = "CallError"
  readonly status: number | undefined
  readonly retryAfter: number | undefined
  readonly request: ChangeRequested | undefined
  constructor(
    readonly reason: CallReason,
    message: string,
    { request, retryAfter, status }: CallFailure = {}
  ) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
    this.request = request
  }
}
