import { ApiError } from "./ApiError.js"

/** A name, key, value, e-mail, pattern, query parameter or body breaks its rule. The message never holds the value. */
export class ValidationError extends ApiError<ValidationError>()("ValidationError", {
  code: "VALIDATION_ERROR",
  status: 400,
  description: "The request breaks a rule: the message names the field and the rule"
}) {}

export class Unauthorized extends ApiError<Unauthorized>()("Unauthorized", {
  code: "UNAUTHORIZED",
  status: 401,
  description: "No credential, or one that is unknown, expired or revoked"
}) {}

export class InvalidCode extends ApiError<InvalidCode>()("InvalidCode", {
  code: "INVALID_CODE",
  status: 401,
  description: "A login code that is wrong, used, expired or was never requested"
}) {}

export class Forbidden extends ApiError<Forbidden>()("Forbidden", {
  code: "FORBIDDEN",
  status: 403,
  description: "The caller belongs to the organization, but its role or access rules do not allow this"
}) {}

export class NotFound extends ApiError<NotFound>()("NotFound", {
  code: "NOT_FOUND",
  status: 404,
  description: "Not there, removed, or not the caller's to know of"
}) {}

export class MethodNotAllowed extends ApiError<MethodNotAllowed>()("MethodNotAllowed", {
  code: "METHOD_NOT_ALLOWED",
  status: 405,
  description: "The path exists, with the methods that `Allow` lists"
}) {}

export class Conflict extends ApiError<Conflict>()("Conflict", {
  code: "CONFLICT",
  status: 409,
  description: "The name is in use, the person is a member already, or the version expected is not the current one"
}) {}

export class LastOwner extends ApiError<LastOwner>()("LastOwner", {
  code: "LAST_OWNER",
  status: 409,
  description: "The organization would be left without an owner"
}) {}

export class LimitExceeded extends ApiError<LimitExceeded>()("LimitExceeded", {
  code: "LIMIT_EXCEEDED",
  status: 409,
  description: "A limit would be passed; the message names it"
}) {}

export class PayloadTooLarge extends ApiError<PayloadTooLarge>()("PayloadTooLarge", {
  code: "PAYLOAD_TOO_LARGE",
  status: 413,
  description: "The request body is larger than this call takes"
}) {}

export class UnsupportedMediaType extends ApiError<UnsupportedMediaType>()("UnsupportedMediaType", {
  code: "UNSUPPORTED_MEDIA_TYPE",
  status: 415,
  description: "The body is not application/json"
}) {}

export class RateLimited extends ApiError<RateLimited>()("RateLimited", {
  code: "RATE_LIMITED",
  status: 429,
  description:
    "Too many login requests for this e-mail or from this address; `Retry-After` says how many seconds to wait"
}) {}

export class LockedOut extends ApiError<LockedOut>()("LockedOut", {
  code: "LOCKED_OUT",
  status: 429,
  description: "Too many failed verifications for this e-mail; `Retry-After` says how many seconds to wait"
}) {}

export class DecryptionFailed extends ApiError<DecryptionFailed>()("DecryptionFailed", {
  code: "DECRYPTION_FAILED",
  status: 500,
  description: "What is stored does not authenticate; nothing of it is returned"
}) {}

export class InternalError extends ApiError<InternalError>()("InternalError", {
  code: "INTERNAL_ERROR",
  status: 500,
  description:
    "Something failed in the server; its log has the details, under the request id. A change that ends so is undone, but may be there after a crash if the disk failed: read before you send it again"
}) {}

export class BackupFailed extends ApiError<BackupFailed>()("BackupFailed", {
  code: "BACKUP_FAILED",
  status: 502,
  description: "The object store refused or cannot be reached; nothing half-written remains"
}) {}

export class BackupsDisabled extends ApiError<BackupsDisabled>()("BackupsDisabled", {
  code: "BACKUPS_DISABLED",
  status: 503,
  description: "No S3 endpoint is configured"
}) {}

export class NotReady extends ApiError<NotReady>()("NotReady", {
  code: "NOT_READY",
  status: 503,
  description: "The database does not answer, or the server is shutting down"
}) {}

/** Answered before anything of the call was done, so that any request may be sent again. */
export class Overloaded extends ApiError<Overloaded>()("Overloaded", {
  code: "OVERLOADED",
  status: 503,
  description:
    "The server holds as much as it may; nothing was changed: send the same again after `Retry-After` seconds"
}) {}

/** The closed set of errors: every code that the service answers with, once. */
export const errors = [
  ValidationError,
  Unauthorized,
  InvalidCode,
  Forbidden,
  NotFound,
  MethodNotAllowed,
  Conflict,
  LastOwner,
  LimitExceeded,
  PayloadTooLarge,
  UnsupportedMediaType,
  RateLimited,
  LockedOut,
  DecryptionFailed,
  InternalError,
  BackupFailed,
  BackupsDisabled,
  NotReady,
  Overloaded
] as const

export type AnyApiError = InstanceType<(typeof errors)[number]>

export type ErrorCode = AnyApiError["code"]

export const errorCodes: ReadonlySet<string> = new Set(errors.map((error): string => error.code))

/** Whether something that was thrown or failed with is one of the service's own errors. */
export const isApiError = (u: unknown): u is AnyApiError => errors.some((error) => u instanceof error)
