import { ApiError, type Handling } from "./ApiError.js"

/** The request is invalid. The message never contains a rejected value. */
export class ValidationError extends ApiError<ValidationError>()("ValidationError", {
  code: "VALIDATION_ERROR",
  status: 400,
  description: "The request is invalid: the message names the field and its format",
  example: "project: a project name has 2 to 50 characters: lowercase letters, digits and hyphens",
  next: "correct"
}) {}

export class Unauthorized extends ApiError<Unauthorized>()("Unauthorized", {
  code: "UNAUTHORIZED",
  status: 401,
  description: "No credential, or one that is unknown, expired or revoked",
  example: "no credential, or one that is unknown, expired or revoked: log in, or send a service account's key",
  next: "authenticate",
  exit: "notAuthenticated"
}) {}

export class InvalidCode extends ApiError<InvalidCode>()("InvalidCode", {
  code: "INVALID_CODE",
  status: 401,
  description: "A login code that is wrong, used, expired or was never requested, or a proof that is no passkey's",
  example: "the code is wrong, used, expired or was never requested: ask for a new one",
  next: "logIn",
  exit: "notAuthenticated"
}) {}

/** The person has not decided yet (RFC 8628, section 3.5). */
export class AuthorizationPending extends ApiError<AuthorizationPending>()("AuthorizationPending", {
  code: "AUTHORIZATION_PENDING",
  status: 400,
  description: "The person has not approved this login yet: poll again after `interval` seconds",
  example: "nobody has approved this login yet: ask again in 5 seconds",
  next: "wait",
  exit: "notAuthenticated"
}) {}

export class Forbidden extends ApiError<Forbidden>()("Forbidden", {
  code: "FORBIDDEN",
  status: 403,
  description: "The caller belongs to the organization, but its role or access rules do not allow this",
  example: "this needs a rule with permission write for environment webshop/prod of organization acme",
  next: "askForRight"
}) {}

/** No use rule lets the caller make this request. The message names the part that does not fit. */
export class UseRefused extends ApiError<UseRefused>()("UseRefused", {
  code: "USE_REFUSED",
  status: 403,
  description:
    "No use rule lets the caller make this request with this secret; the message names the part that does not fit",
  example: "path /v1/payouts is in no rule of STRIPE_KEY: GET .../uses lists what you may use",
  next: "followRules"
}) {}

/** The session is valid, but its login is too old for this call, or proved too little. */
export class Reauthenticate extends ApiError<Reauthenticate>()("Reauthenticate", {
  code: "REAUTHENTICATE",
  status: 403,
  description:
    "This needs a recent login: in a browser one of the last 15 minutes, in a program one that its session began with; nothing was changed",
  example: "log in again first, then retry: this needs a login from the last 15 minutes",
  next: "logIn",
  exit: "notAuthenticated"
}) {}

export class NotFound extends ApiError<NotFound>()("NotFound", {
  code: "NOT_FOUND",
  status: 404,
  description: "It does not exist, was removed, or is hidden from the caller",
  example: "secret DATABASE_URL does not exist",
  next: "checkNames",
  exit: "notFound"
}) {}

export class MethodNotAllowed extends ApiError<MethodNotAllowed>()("MethodNotAllowed", {
  code: "METHOD_NOT_ALLOWED",
  status: 405,
  description: "The path exists, but not with this method: `Allow` lists its methods",
  example: "this path does not take POST: it takes GET, HEAD",
  next: "updateClient"
}) {}

export class Conflict extends ApiError<Conflict>()("Conflict", {
  code: "CONFLICT",
  status: 409,
  description: "The name is in use, the person is already a member, or the expected version is not the current one",
  example: "secret DATABASE_URL is at version 3, and version 2 was expected",
  next: "readAgain"
}) {}

export class LastOwner extends ApiError<LastOwner>()("LastOwner", {
  code: "LAST_OWNER",
  status: 409,
  description: "The organization would have no owner left",
  example: "organization acme would be left without an owner: make someone else one first",
  next: "readAgain"
}) {}

export class UseWidens extends ApiError<UseWidens>()("UseWidens", {
  code: "USE_WIDENS",
  status: 409,
  description:
    "The value would come under wider use rules than it has, and the caller may not read it: nothing was changed",
  example: "secret STRIPE_KEY has wider use rules than the value's own: ask somebody who may read the value",
  next: "askReader"
}) {}

/** A reference cannot be written, or a value that passes it cannot be read. The message names keys and places. */
export class ReferenceRefused extends ApiError<ReferenceRefused>()("ReferenceRefused", {
  code: "REFERENCE_REFUSED",
  status: 409,
  description:
    "A reference names what does not exist or what the caller may not read, refers to itself, or passes too many others; the message names keys and places, never values",
  example: "DATABASE_URL refers to shared:DB_PASSWORD, and this needs read on environment shared",
  next: "checkReferences"
}) {}

export class PatternBroken extends ApiError<PatternBroken>()("PatternBroken", {
  code: "PATTERN_BROKEN",
  status: 409,
  description: "A value breaks the pattern that the project declares for the key, and the project is strict",
  example: "secret PORT: the value breaks the declared pattern, and project webshop is strict; nothing was changed",
  next: "correctValue"
}) {}

/** A person has to approve the request. The message has the id of the approval. */
export class ApprovalNeeded extends ApiError<ApprovalNeeded>()("ApprovalNeeded", {
  code: "APPROVAL_NEEDED",
  status: 409,
  description: "A person has to approve this request first; the message has the id of the approval",
  example:
    "a person with admin has to approve this request within 5 minutes: coffer request approve 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0; then send it again",
  next: "awaitApproval"
}) {}

/** The environment is protected: the change needs the votes of people. Nothing was changed. */
export class ApprovalRequired extends ApiError<ApprovalRequired>()("ApprovalRequired", {
  code: "APPROVAL_REQUIRED",
  status: 409,
  description: "The environment is protected, and nothing was changed; the message says how to ask for the change",
  example:
    "environment webshop/prod is protected, and nothing was changed: send Prefer: respond-async to ask for approval",
  next: "askForApproval"
}) {}

export class LimitExceeded extends ApiError<LimitExceeded>()("LimitExceeded", {
  code: "LIMIT_EXCEEDED",
  status: 409,
  description: "A limit would be exceeded; the message names it",
  example: "an environment has at most 2,000 secrets",
  next: "checkLimit"
}) {}

export class PayloadTooLarge extends ApiError<PayloadTooLarge>()("PayloadTooLarge", {
  code: "PAYLOAD_TOO_LARGE",
  status: 413,
  description: "The request body is larger than this endpoint accepts",
  example: "the request body exceeds the limit of 1048576 bytes",
  next: "sendLess"
}) {}

export class UnsupportedMediaType extends ApiError<UnsupportedMediaType>()("UnsupportedMediaType", {
  code: "UNSUPPORTED_MEDIA_TYPE",
  status: 415,
  description: "The body is not application/json",
  example: "send the body as Content-Type: application/json, in UTF-8",
  next: "updateClient"
}) {}

export class RateLimited extends ApiError<RateLimited>()("RateLimited", {
  code: "RATE_LIMITED",
  status: 429,
  description:
    "Too many login requests for this e-mail or from this address, or failed sign-ins of a service account; `Retry-After` says how many seconds to wait",
  example: "too many login requests for this e-mail: try again in 600 seconds",
  next: "wait"
}) {}

/** A budget of a use rule is used up. */
export class UseBudget extends ApiError<UseBudget>()("UseBudget", {
  code: "USE_BUDGET",
  status: 429,
  description:
    "The use rule's budget is used up, or too many requests are in flight; `Retry-After` says how long to wait",
  example: "the rule of STRIPE_KEY allows 30 requests a minute: try again in 20 seconds",
  next: "wait"
}) {}

/** A poll that came too early (RFC 8628, section 3.5). */
export class SlowDown extends ApiError<SlowDown>()("SlowDown", {
  code: "SLOW_DOWN",
  status: 429,
  description: "The polls of a login come too fast: add 5 seconds to the interval, and wait as `Retry-After` says",
  example: "you ask too often: ask again in 5 seconds",
  next: "wait"
}) {}

export class LockedOut extends ApiError<LockedOut>()("LockedOut", {
  code: "LOCKED_OUT",
  status: 429,
  description: "Too many failed verifications for this e-mail; `Retry-After` says how many seconds to wait",
  example: "too many failed verifications for this e-mail: try again in 3000 seconds",
  next: "wait"
}) {}

export class DecryptionFailed extends ApiError<DecryptionFailed>()("DecryptionFailed", {
  code: "DECRYPTION_FAILED",
  status: 500,
  description: "The stored data fails authentication (wrong key or tampering); nothing is returned",
  example: "secret DATABASE_URL does not authenticate: it was altered",
  next: "report"
}) {}

export class InternalError extends ApiError<InternalError>()("InternalError", {
  code: "INTERNAL_ERROR",
  status: 500,
  description:
    "The server failed; its log has the details under the request id. The change is rolled back, unless the disk failed: then it may reappear after a crash. Read before you retry",
  example: "something went wrong in the server; its log has the details under the request id",
  next: "readLog",
  retry: "reads"
}) {}

export class BackupFailed extends ApiError<BackupFailed>()("BackupFailed", {
  code: "BACKUP_FAILED",
  status: 502,
  description: "The backup store refused the request or is unreachable; no partial backup remains",
  example: "the object store cannot be reached",
  next: "configure"
}) {}

/** The upstream did not respond, or its response was withheld. The message never contains the response. */
export class UpstreamFailed extends ApiError<UpstreamFailed>()("UpstreamFailed", {
  code: "UPSTREAM_FAILED",
  status: 502,
  description:
    "The upstream did not respond, or its response was withheld; the request may have had its effect. The message gives the reason and never contains the response",
  example: "api.stripe.com: there was no complete response in time; the request may have had its effect",
  next: "checkEffect"
}) {}

export class BrokerDisabled extends ApiError<BrokerDisabled>()("BrokerDisabled", {
  code: "BROKER_DISABLED",
  status: 503,
  description: "This server makes no requests with secrets",
  example: "this server makes no requests with secrets: an operator has to set SERVICE_BROKER=1",
  next: "configure"
}) {}

export class BackupsDisabled extends ApiError<BackupsDisabled>()("BackupsDisabled", {
  code: "BACKUPS_DISABLED",
  status: 503,
  description: "No backup store is configured",
  example: "backups are off: an operator has to set BACKUP_S3_ENDPOINT or BACKUP_DIR",
  next: "configure"
}) {}

export class NotReady extends ApiError<NotReady>()("NotReady", {
  code: "NOT_READY",
  status: 503,
  description: "The database does not respond, or the server is shutting down",
  example: "the database does not respond",
  next: "retry",
  retry: "reads"
}) {}

/** The token may be sound: nothing is known of its signature yet. */
export class IssuerUnavailable extends ApiError<IssuerUnavailable>()("IssuerUnavailable", {
  code: "ISSUER_UNAVAILABLE",
  status: 503,
  description:
    "The server cannot fetch the keys of the token's issuer, so it has not judged the token: retry after `Retry-After` seconds",
  example: "the keys of the token's issuer cannot be fetched now: try again in 60 seconds",
  next: "wait"
}) {}

/** Raised before the request has any effect, or after its transaction was rolled back. */
export class DatabaseUnavailable extends ApiError<DatabaseUnavailable>()("DatabaseUnavailable", {
  code: "DATABASE_UNAVAILABLE",
  status: 503,
  description: "The server cannot reach its database; nothing was changed: retry after `Retry-After` seconds",
  example: "the server cannot reach its database, and nothing was changed: try again in 2 seconds",
  next: "retry",
  retry: "reads"
}) {}

export class OutcomeUnknown extends ApiError<OutcomeUnknown>()("OutcomeUnknown", {
  code: "OUTCOME_UNKNOWN",
  status: 503,
  description:
    "The server lost its database while it committed the change, which may have been made: read before you retry. A write with `expected_version` can simply be retried",
  example:
    "the connection to the database was lost during the commit: read whether the change was made before you try again",
  next: "checkChange"
}) {}

/** Raised before the request has any effect, so that any request may be retried. */
export class Overloaded extends ApiError<Overloaded>()("Overloaded", {
  code: "OVERLOADED",
  status: 503,
  description: "The server is at its limit of requests; nothing was changed: retry after `Retry-After` seconds",
  example: "the server holds as many requests as it may: try again in 1 second",
  next: "wait",
  retry: "all"
}) {}

/** Raised before anything is stored. Space comes by the operator alone, so a client gives up after a few tries. */
export class StorageFull extends ApiError<StorageFull>()("StorageFull", {
  code: "STORAGE_FULL",
  status: 507,
  description: "The disk of the server's database is full; nothing was changed: retry after `Retry-After` seconds",
  example: "the disk of the server's database is full, and nothing was changed: its operator has to free space",
  next: "wait",
  retry: "all"
}) {}

/** All errors of the API, each code once. */
export const errors = [
  ValidationError,
  Unauthorized,
  InvalidCode,
  AuthorizationPending,
  Forbidden,
  UseRefused,
  Reauthenticate,
  NotFound,
  MethodNotAllowed,
  Conflict,
  LastOwner,
  UseWidens,
  ReferenceRefused,
  PatternBroken,
  ApprovalNeeded,
  ApprovalRequired,
  LimitExceeded,
  PayloadTooLarge,
  UnsupportedMediaType,
  RateLimited,
  UseBudget,
  SlowDown,
  LockedOut,
  DecryptionFailed,
  InternalError,
  BackupFailed,
  UpstreamFailed,
  BrokerDisabled,
  BackupsDisabled,
  NotReady,
  IssuerUnavailable,
  Overloaded,
  DatabaseUnavailable,
  OutcomeUnknown,
  StorageFull
] as const

export type AnyApiError = InstanceType<(typeof errors)[number]>

export const errorCodes: ReadonlySet<string> = new Set(errors.map((error): string => error.code))

/** Returns how to handle the error of a code; undefined if the contract does not have the code. */
export const handlingOf = (code: string): Handling | undefined => errors.find((error) => error.code === code)?.handling

export const isApiError = (u: unknown): u is AnyApiError => errors.some((error) => u instanceof error)
