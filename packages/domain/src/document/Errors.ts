import type { ErrorCode } from "../Errors.js"

/** An example message of each error. */
export const messages: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: "project: a project name has 2 to 50 characters: lowercase letters, digits and hyphens",
  UNAUTHORIZED: "no credential, or one that is unknown, expired or revoked: log in, or send a service account's key",
  INVALID_CODE: "the code is wrong, used, expired or was never requested: ask for a new one",
  FORBIDDEN: "this needs a rule with permission write for environment webshop/prod of organization acme",
  NOT_FOUND: "secret DATABASE_URL is not there",
  METHOD_NOT_ALLOWED: "this path does not take POST: it takes GET, HEAD",
  CONFLICT: "secret DATABASE_URL is at version 3, and version 2 was expected",
  LAST_OWNER: "organization acme would be left without an owner: make someone else one first",
  LIMIT_EXCEEDED: "an environment has at most 2,000 secrets",
  PAYLOAD_TOO_LARGE: "the body is larger than the 1048576 bytes that this call takes",
  UNSUPPORTED_MEDIA_TYPE: "send the body as Content-Type: application/json, in UTF-8",
  RATE_LIMITED: "too many login requests for this e-mail: try again in 600 seconds",
  LOCKED_OUT: "too many failed verifications for this e-mail: try again in 3000 seconds",
  DECRYPTION_FAILED: "secret DATABASE_URL does not authenticate: it was altered",
  INTERNAL_ERROR: "something went wrong in the server; its log has the details under the request id",
  BACKUP_FAILED: "the object store cannot be reached",
  BACKUPS_DISABLED: "backups are off: neither of the server's settings BACKUP_S3_ENDPOINT and BACKUP_DIR names a store",
  NOT_READY: "the database does not answer",
  OVERLOADED: "the server holds as many requests as it may: try again in 1 second"
}

const header = (description: string, example: string) => ({ description, schema: { type: "string" }, example })

/** Response headers, as components of the document. */
export const headers = {
  RequestId: header("the id of the request in the server's log", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
  ETag: header("the state of the environment, for If-Match and If-None-Match; opaque", '"Zk3n0fQxk8vR7yB2mJtW5cLsEaH"'),
  RetryAfter: header("how long to wait, in whole seconds", "600"),
  Allow: header("the methods of the path", "GET, HEAD"),
  Challenge: header("the required credential", 'Bearer realm="coffer"')
}
