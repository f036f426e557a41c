import { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import { isApiError, type AnyApiError } from "@coffer/domain/errors/Errors"
import {
  DatabaseUnavailable,
  InternalError,
  OutcomeUnknown,
  Overloaded,
  MethodNotAllowed,
  NotFound,
  NotReady,
  StorageFull,
  ValidationError
} from "@coffer/domain/errors/Errors"
import { isOwnMessage } from "@coffer/domain/base/Message"
import * as HttpApiError from "@effect/platform/HttpApiError"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { isBusy, isDiskFull, isLockTimeout, rootReason } from "../base/Reason.js"
import { Superseded } from "../database/Superseded.js"
import * as Lost from "../database/Unavailable.js"
import { TooSlow } from "./Body.js"
import { allowedMethods } from "./Routes.js"

/** The path of a field as text. Names in another form than the contract's are not repeated. */
const fieldOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((part) => (/^[A-Za-z0-9_.-]{1,100}$/.test(String(part)) ? String(part) : "a field")).join(".")

type Issue = HttpApiError.HttpApiDecodeError["issues"][number]

/** The reason of a decoding failure. The toolkit's messages may contain the rejected value, so they are replaced. */
const decodingReason = (issue: Issue): string => {
  if (isOwnMessage(issue.message)) return issue.message
  switch (issue._tag) {
    case "Missing":
      return "is required"
    case "Unexpected":
      return "is not a field of this call"
    default:
      return issue.path.length === 0 ? "must be a JSON object" : "has the wrong type or form"
  }
}

/**
 * The toolkit reports a response that cannot be encoded as a decoding error. Its message begins with the schema, and the schema
 * of a response is this declaration.
 */
const isOfResponse = ({ message }: HttpApiError.HttpApiDecodeError): boolean =>
  message.startsWith("(<declaration schema> <-> ")

/** The error for what does not decode. `path` is where it is in the request. */
export const undecoded = ([issue]: ReadonlyArray<Issue>, path: ReadonlyArray<PropertyKey> = []): ValidationError =>
  new ValidationError({
    message:
      issue === undefined
        ? "the request is malformed"
        : `${fieldOf([...path, ...issue.path]) || "the body"}: ${decodingReason(issue)}`
  })

/** The error for a path or a method without a route. A path with a parameter that is too long or badly encoded is not found. */
export const unrouted = (method: string, url: string): NotFound | MethodNotAllowed => {
  const methods = allowedMethods(url)
  return methods.length === 0 || methods.includes(method)
    ? new NotFound({ message: "no such path: /openapi.json lists them all" })
    : new MethodNotAllowed({
        message: `this path does not take ${method}: it takes ${methods.join(", ")}`,
        allow: methods.join(", ")
      })
}

const internal = (id: string) =>
  new InternalError({
    message: `something went wrong in the server; its log has the details under the request id ${id}`
  })

/** Converts a cause to a declared error. Unexpected errors are logged, and the response names the request id only. */
export const toApiError = (cause: Cause.Cause<unknown>, id: string): Effect.Effect<AnyApiError> => {
  const error = Cause.squash(cause)
  if (isApiError(error)) return Effect.succeed(error)
  if (error instanceof HttpServerError.RouteNotFound)
    return Effect.succeed(unrouted(error.request.method, error.request.url))
  if (error instanceof HttpApiError.HttpApiDecodeError) {
    if (!isOfResponse(error)) return Effect.succeed(undecoded(error.issues))
    const fields = error.issues.map(({ path }) => fieldOf(path))
    return Effect.as(Effect.logError(`a response does not match its schema at ${fields.join(", ")}`), internal(id))
  }
  if (error instanceof Superseded) {
    return Effect.as(
      Effect.logWarning("a request was refused: the database went on without this server"),
      new DatabaseUnavailable({
        message:
          "the database went on without this server, which ends, and nothing was changed: try again in 5 seconds",
        retryAfter: 5
      })
    )
  }
  if (error instanceof Lost.DatabaseUnavailable) {
    const retryAfter = 2
    const what =
      error.isSlow === true ? "the database takes too long to respond" : "the server cannot reach its database"
    return Effect.as(
      Effect.logWarning(
        error.isSlow === true
          ? "a request was not answered by the database in time"
          : `a request found no database: ${rootReason(error.cause)}`
      ),
      new DatabaseUnavailable({
        message: `${what}, and nothing was changed: try again in ${retryAfter} seconds`,
        retryAfter
      })
    )
  }
  if (error instanceof Lost.OutcomeUnknown) {
    return Effect.as(
      Effect.logError(`the database was lost during a commit, whose outcome is unknown: ${rootReason(error.cause)}`),
      new OutcomeUnknown({
        message:
          "the connection to the database was lost during the commit: read whether the change was made before you try again"
      })
    )
  }
  if (error instanceof Lost.DatabaseBusy || isLockTimeout(error)) {
    return Effect.as(
      Effect.logWarning(
        error instanceof Lost.DatabaseBusy
          ? "timed out waiting for a database connection: raise SERVICE_DATABASE_POOL, or add a server"
          : "timed out waiting for a database lock"
      ),
      new Overloaded({ message: "the database is busy, and nothing was changed: try again in 1 second", retryAfter: 1 })
    )
  }
  if (isBusy(error)) {
    return Effect.as(
      Effect.logWarning("a request failed: another program has locked the database for more than five seconds"),
      new NotReady({ message: "another program has locked the database: try again", retryAfter: 5 })
    )
  }
  if (isDiskFull(error)) {
    return Effect.as(
      Effect.logError("a request failed: the disk with the database is full"),
      new StorageFull({
        message: "the disk of the server's database is full, and nothing was changed: its operator has to free space",
        retryAfter: 5
      })
    )
  }
  return Effect.as(Effect.logError("a request failed with an unexpected error", cause), internal(id))
}

/** How an error is written. */
export type ErrorForm = (error: AnyApiError) => HttpServerResponse.HttpServerResponse

/** The error envelope, with its headers. */
export const toResponse = (error: AnyApiError): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(
    { error: { code: error.code, message: error.message } },
    {
      status: error.status,
      headers: {
        ...(error.retryAfter !== undefined && { "retry-after": String(error.retryAfter) }),
        ...(error.allow !== undefined && { allow: error.allow }),
        ...(error.status === 401 && { "www-authenticate": 'Bearer realm="coffer"' }),
        // RFC 6750, section 3.1.
        ...(error.scope !== undefined && {
          "www-authenticate": `Bearer realm="coffer", error="insufficient_scope", scope="${error.scope}"`
        })
      }
    }
  )

/** The response to a change that waits for votes (RFC 9110, section 15.3.3; RFC 7240, section 3). */
const accepted = ({ location, request }: ChangeRequested): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(request, {
    status: 202,
    headers: { "preference-applied": "respond-async", ...(location !== undefined && { location }) }
  })

const tooSlow = new ValidationError({ message: "the request took too long to arrive" })

/** The response to a request that failed. */
export const errorResponse = (
  cause: Cause.Cause<unknown>,
  id: string,
  form: ErrorForm = toResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.suspend(() => {
    const error = Cause.squash(cause)
    if (error instanceof TooSlow) return Effect.succeed(HttpServerResponse.setStatus(form(tooSlow), 408))
    return error instanceof ChangeRequested ? Effect.succeed(accepted(error)) : Effect.map(toApiError(cause, id), form)
  })
