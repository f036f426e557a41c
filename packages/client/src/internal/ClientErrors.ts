import { defined } from "@coffer/domain/base/Defined"
import * as Data from "effect/Data"
import type { BadSetting } from "./Variables.js"

/** The advice of an error: the thing to check, if the address may be wrong. */
interface Advice {
  readonly next?: string
}

const adviceOf = ({ next }: Advice) => (next === undefined ? "" : `; ${next}`)

/** The connection failed: refused, unknown host, untrusted certificate, or timeout. */
export class ServerUnreachable extends Data.TaggedError("ServerUnreachable")<
  Advice & {
    readonly url: string
    /** A message for people. Never contains request data. */
    readonly reason: string
    /** Whether a retry is likely to succeed. */
    readonly transient: boolean
    /** Whether the response had begun when the connection failed. */
    readonly answered: boolean
  }
> {
  override get message() {
    return `cannot reach ${this.url}: ${this.reason}${adviceOf(this)}`
  }
}

/** The meaning of each status that a proxy in front of the server returns itself. */
const proxyProblems: ReadonlyMap<number, string> = new Map([
  [413, "limits the size of requests: raise its limit, such as client_max_body_size of nginx"],
  [502, "does not reach the server: see whether the server runs"],
  [503, "does not reach the server: see whether the server runs"],
  [504, "waited too long for the server: see whether the server is overloaded"]
])

/** A response that does not fit the contract: from another program, from a newer server, or a redirect. */
export class UnexpectedResponse extends Data.TaggedError("UnexpectedResponse")<
  Advice & {
    readonly url: string
    readonly status: number
    /** The origin that a redirect points to. It is not followed: the credential is for `url` only. */
    readonly redirect?: string
    /** The proxy, named by a variable, that the response came through and may be from. */
    readonly proxy?: string
  }
> {
  /** Whether a proxy sent the response, so that the address may be right. */
  get isFromProxy(): boolean {
    return this.proxy !== undefined || proxyProblems.has(this.status)
  }
  override get message() {
    const problem = proxyProblems.get(this.status)
    const { proxy } = this
    if (problem !== undefined) {
      const who = proxy === undefined ? "a proxy in front of the server" : `the proxy ${proxy} or one behind it`
      return `${this.url} answered ${this.status}: ${who} ${problem}`
    }
    if (proxy !== undefined) {
      return `the answer ${this.status} for ${this.url} is not a Coffer server's, and may be from the proxy ${proxy}; ask the operator of the proxy whether it lets you reach the server, or name the server's host in NO_PROXY`
    }
    const found =
      this.redirect === undefined
        ? "not as a Coffer server does"
        : `a redirect to ${this.redirect}, which is not followed`
    return `${this.url} answered ${this.status}, ${found}${adviceOf(this)}`
  }
}

/** The error for a response that is not one of the service. */
export const unexpectedResponse = (
  url: string,
  { proxy, status }: { readonly status: number; readonly proxy?: string },
  redirect?: string
): UnexpectedResponse => new UnexpectedResponse({ url, status, ...defined({ redirect, proxy }) })

/** An error of the service that this client does not know or that the endpoint does not declare. */
export class UnknownApiError extends Data.TaggedError("UnknownApiError")<{
  readonly status: number
  readonly code: string
  readonly message: string
  /** The seconds to wait before the next attempt, if the server sends them. */
  readonly retryAfter?: number
}> {}

/** A request outside the contract, which was not sent. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  /** The field's name in the contract, such as `limit`. */
  readonly field: string
  /** The rule that the value breaks. Never contains the value. */
  readonly reason: string
}> {
  override get message() {
    return `${this.field}: ${this.reason}`
  }
}

/** A service account could not sign in. */
export class SignInFailed extends Data.TaggedError("SignInFailed")<{
  readonly reason: string
  /** The server's message. It repeats claims of the token, such as the name of a branch. */
  readonly detail?: string
  readonly next: string
}> {
  override get message() {
    return `${this.reason}${this.detail === undefined ? "" : `: ${this.detail.replace(/[.;:]?\s*$/, "")}`}; ${this.next}`
  }
}

/** The errors of a service account's sign-in. */
export type SignInError = BadSetting | ServerUnreachable | SignInFailed | UnexpectedResponse

/** The errors of a request before the service has answered, or of a response that is not one of the contract. */
export type ClientError = InvalidRequest | ServerUnreachable | SignInError | UnexpectedResponse | UnknownApiError
