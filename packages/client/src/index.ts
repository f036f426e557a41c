/** The public exports of `@coffer/client`, for applications: nothing else of the package is public. */
export type { ApprovalRequest, ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
export type {
  DatabaseUnavailable,
  DecryptionFailed,
  Forbidden,
  InternalError,
  NotFound,
  Overloaded,
  Unauthorized
} from "@coffer/domain/errors/Errors"
export { Coffer, TestCoffer } from "./Coffer.js"
export { EmptyEnvironment, MissingSecret, type ReadApiError, type ReadError, type StartError } from "./Errors.js"
export type { Credential, Leased, LeaseFailed, LeaseOptions } from "./Lease.js"
export type { Call } from "./internal/Call.js"
export type { ServerUnreachable, SignInFailed, UnexpectedResponse, UnknownApiError } from "./internal/ClientErrors.js"
export { breakingGlass, withReason } from "./internal/Asking.js"
export type { BadSetting } from "./internal/Variables.js"
export type { CredentialOption, Options } from "./Options.js"
export type { CofferService, Snapshot, TestCofferService } from "./Service.js"
