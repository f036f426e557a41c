import { Data } from "effect"

/** The server could not be talked to: refused, not found, no trust in its certificate, no answer in time. */
export class ServerUnreachable extends Data.TaggedError("ServerUnreachable")<{
  readonly url: string
  /** For people; holds nothing that was sent. */
  readonly reason: string
  /** Whether the same request may well succeed in a moment. */
  readonly transient: boolean
  /** Whether an answer had begun when it broke off. */
  readonly answered?: boolean
}> {
  override get message() {
    return `cannot reach ${this.url}: ${this.reason}`
  }
}

/** An answer that is not the contract's: another program's page, a redirect, or a newer server's. */
export class UnexpectedResponse extends Data.TaggedError("UnexpectedResponse")<{
  readonly url: string
  readonly status: number
  /** The origin that a redirect points to. It is never followed: what is sent is for `url` alone. */
  readonly redirect?: string
}> {
  override get message() {
    return this.redirect === undefined
      ? `${this.url} answered ${this.status}, not as a Coffer server does`
      : `${this.url} answered ${this.status}, a redirect to ${this.redirect}, which is not followed`
  }
}

/** An error of the service that this client is too old to know, or does not expect of this call. */
export class UnknownApiError extends Data.TaggedError("UnknownApiError")<{
  readonly status: number
  readonly code: string
  readonly message: string
}> {}

export type ClientError = ServerUnreachable | UnexpectedResponse | UnknownApiError
