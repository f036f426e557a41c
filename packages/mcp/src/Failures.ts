import type { ClientError } from "@coffer/domain/client/ClientErrors"
import type { CredentialError } from "@coffer/domain/client/Credentials"
import type { BadServiceFile } from "@coffer/domain/client/ServiceFile"
import type { BadSetting, MissingSettings } from "@coffer/domain/client/Settings"
import type { AnyApiError, ErrorCode } from "@coffer/domain/Errors"
import { Data } from "effect"
import { plain, quoted } from "./Plain.js"

/** Parameters that break their rules; the message never holds what was given. */
export class BadParameters extends Data.TaggedError("BadParameters")<{ readonly message: string }> {}

/** There is no such tool, or not as this program was started. */
export class NotOffered extends Data.TaggedError("NotOffered")<{
  readonly code: "READ_ONLY" | "UNKNOWN_TOOL"
  readonly message: string
  readonly next: string
}> {}

/** The program was told to stay at one place, and this call is for another, or nobody has said which. */
export class Pinned extends Data.TaggedError("Pinned")<{ readonly message: string }> {}

/** A mistake in this program. */
export class Defect extends Data.TaggedError("Defect")<{ readonly message: string }> {}

/** What the program itself finds wrong with a call. */
type OwnFailure =
  BadParameters | BadServiceFile | BadSetting | CredentialError | Defect | MissingSettings | NotOffered | Pinned

/** Everything that a call can fail with. */
export type Failure = AnyApiError | ClientError | OwnFailure

const newerServer = "tell the user that the server is newer than coffer-mcp, which must be updated"
const lookFirst = "see what is there now with the listing tools, then decide anew"
const wait = "wait before you call again"
const operator = "tell the user: whoever runs the server must look into it"
const address = "SERVICE_SERVER_URL, or server_url in service.yml, is right"

/** What to do next, by what the service says. */
const afterAnswer: { readonly [Code in ErrorCode]: string } = {
  VALIDATION_ERROR: "correct what the message names, then call again",
  UNAUTHORIZED: "ask the user for a valid SERVICE_API_KEY, or to run coffer login",
  INVALID_CODE: "ask the user to run coffer login",
  FORBIDDEN: "do not call again: ask the user, or an administrator of the organization, for that right",
  NOT_FOUND: "check the names with org_list, project_list, env_list and secret_list",
  METHOD_NOT_ALLOWED: newerServer,
  CONFLICT: lookFirst,
  LAST_OWNER: lookFirst,
  LIMIT_EXCEEDED: "do not call again: tell the user which limit is reached",
  PAYLOAD_TOO_LARGE: "send less",
  UNSUPPORTED_MEDIA_TYPE: newerServer,
  RATE_LIMITED: wait,
  LOCKED_OUT: wait,
  DECRYPTION_FAILED: operator,
  INTERNAL_ERROR: operator,
  BACKUP_FAILED: operator,
  BACKUPS_DISABLED: operator,
  NOT_READY: wait,
  OVERLOADED: wait
}

interface Told {
  readonly code: string
  /** What to do next, where the message does not end with it. */
  readonly next?: string
}

const own: { readonly [Tag in (OwnFailure | ClientError)["_tag"]]: Told } = {
  BadParameters: { code: "VALIDATION_ERROR", next: "correct the parameters as the tool's inputSchema says" },
  BadServiceFile: { code: "BAD_SERVICE_FILE", next: "ask the user to correct that file" },
  BadSetting: { code: "BAD_SETTING", next: "ask the user to correct that setting" },
  Defect: { code: "CLIENT_DEFECT", next: "tell the user: this is a mistake in coffer-mcp" },
  MissingSettings: { code: "MISSING_SETTINGS" },
  NotAuthenticated: { code: "NOT_AUTHENTICATED", next: "ask the user to do that" },
  NotOffered: { code: "UNKNOWN_TOOL" },
  Pinned: { code: "PINNED", next: "leave out org, project and env; only the user can change the place" },
  PrivateFileError: { code: "UNSAFE_FILE", next: "ask the user to do that" },
  ServerUnreachable: {
    code: "SERVER_UNREACHABLE",
    next: `ask the user whether the server is running, and whether ${address}`
  },
  UnexpectedResponse: { code: "UNEXPECTED_RESPONSE", next: `ask the user whether ${address}` },
  UnknownApiError: { code: "UNKNOWN_ERROR", next: newerServer },
  UntrustedServer: { code: "UNTRUSTED_SERVER", next: "ask the user to do that, if the server is the user's own" }
}

const sentence = (code: string, cause: string, next: string | undefined) =>
  `${code}: ${cause.replace(/[.;:]?\s*$/, "")}.${next === undefined ? "" : ` Next: ${next}.`}`

/** What the server says is data, so it stands between quotes. */
const fromServer = (message: string) => `the server says ${quoted(message)}`

/** A failure in one line, for an agent: the code, the cause and the next step. */
export const describe = (failure: Failure): string => {
  if ("status" in failure && "code" in failure) {
    if (failure._tag !== "UnknownApiError") {
      return sentence(failure.code, fromServer(failure.message), afterAnswer[failure.code])
    }
    const { code, next } = own.UnknownApiError
    return sentence(
      /^[A-Z][A-Z0-9_]{0,63}$/.test(failure.code) ? failure.code : code,
      fromServer(failure.message),
      next
    )
  }
  if (failure._tag === "NotOffered") return sentence(failure.code, failure.message, failure.next)
  const { code, next } = own[failure._tag]
  return sentence(code, plain(failure.message), next)
}
