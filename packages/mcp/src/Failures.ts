import type { ClientError } from "@coffer/client/internal/ClientErrors"
import type { CredentialError } from "@coffer/client/internal/Credentials"
import type { BadServiceFile } from "@coffer/client/internal/ServiceFile"
import type { MissingSettings } from "@coffer/client/internal/Settings"
import type { BadSetting } from "@coffer/client/internal/Variables"
import type { NextStep } from "@coffer/domain/errors/ApiError"
import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import type { AnyApiError } from "@coffer/domain/errors/Errors"
import { afterRefusal, type Asker, namesCommand } from "@coffer/domain/errors/NextSteps"
import * as Data from "effect/Data"
import { plain, quoted } from "./Plain.js"

/** Invalid parameters. The message never contains a given value. */
export class BadParameters extends Data.TaggedError("BadParameters")<{ readonly message: string }> {}

/** The person did not confirm the call. */
export class NotConfirmed extends Data.TaggedError("NotConfirmed")<{ readonly message: string }> {}

/** The settings exclude tools that change something. */
export class ReadOnly extends Data.TaggedError("ReadOnly")<{ readonly message: string }> {}

/** The settings pin the program to one place, and this call names another place or none is configured. */
export class Pinned extends Data.TaggedError("Pinned")<{ readonly message: string }> {}

/** A change that was not made at once: it needs votes. The request says where it stands now. */
export class ChangeWaits extends Data.TaggedError("ChangeWaits")<{
  readonly request: ApprovalRequest
  /** Where people decide. */
  readonly page: string
}> {}

/** A defect of this program. */
export class Defect extends Data.TaggedError("Defect")<{ readonly message: string }> {}

/** The failures that the program itself raises for a call. */
type OwnFailure =
  | BadParameters
  | BadServiceFile
  | BadSetting
  | CredentialError
  | Defect
  | MissingSettings
  | NotConfirmed
  | Pinned
  | ReadOnly

/** All failures of a call. */
export type Failure = AnyApiError | ChangeWaits | ClientError | OwnFailure

const correctIt = "correct what the message names, then call again"
const newerServer = "tell the user that the server is newer than coffer-mcp, which must be updated"
const olderProgram =
  "tell the user that the server and coffer-mcp have different versions, and that the older one must be updated"
const wait = "wait before you call again"
const operator = "tell the user to contact the operator of the server"
const address = "SERVICE_SERVER_URL, or server_url in service.yml, is right"

const notAgain = "do not call again: tell the user"

/** The next step of each error of the server. Refusals have one each. */
const steps: { readonly [Step in NextStep]: string } = {
  correct: correctIt,
  correctValue: "correct the value; GET .../declared has the pattern",
  sendLess: "send less",
  authenticate: "ask the user for a valid SERVICE_API_KEY, or to run coffer delegate or coffer login",
  logIn: "ask the user to run coffer login",
  askForRight: notAgain,
  askReader: "do not call again: ask the user, who may read the value",
  followRules: "do not vary the request to get around it: call secret_uses, or ask the user for a use rule",
  awaitApproval: "tell the user; once it is approved, send the same request again, unchanged",
  askForApproval: "tell the user that nothing was changed: the change needs the approval of people",
  checkNames: "check the names with org_list, project_list, env_list and secret_list",
  checkReferences:
    "check with secret_list whether each secret that the message names exists; if a right is missing, ask the user",
  checkLimit: "do not call again: tell the user which limit is reached",
  readAgain: "list the current state with the listing tools, then decide again",
  checkEffect: "do not repeat a request that changes something before you know whether it had its effect",
  checkChange: "read whether the change was made before you call again",
  retry: wait,
  wait,
  updateClient: olderProgram,
  configure: operator,
  report: operator,
  readLog: operator
}

interface ErrorText {
  readonly code: string
  /** The next step, unless the message ends with it. */
  readonly next?: string
}

const own: { readonly [Tag in (OwnFailure | ClientError)["_tag"]]: ErrorText } = {
  BadParameters: { code: "VALIDATION_ERROR", next: correctIt },
  BadServiceFile: { code: "BAD_SERVICE_FILE", next: "ask the user to correct that file" },
  BadSetting: { code: "BAD_SETTING", next: "ask the user to correct that setting" },
  InvalidRequest: { code: "VALIDATION_ERROR", next: correctIt },
  Defect: { code: "CLIENT_DEFECT", next: "tell the user: this is a mistake in coffer-mcp" },
  MissingSettings: { code: "MISSING_SETTINGS" },
  NotAuthenticated: { code: "NOT_AUTHENTICATED", next: "ask the user to do that" },
  NotConfirmed: { code: "NOT_CONFIRMED", next: "do not call again unless the user asks for it" },
  Pinned: { code: "PINNED", next: "leave out org, project and env; only the user can change the place" },
  PrivateFileError: { code: "UNSAFE_FILE", next: "ask the user to do that" },
  ReadOnly: { code: "READ_ONLY", next: "tell the user what you wanted to change" },
  SignInFailed: { code: "SIGN_IN_FAILED" },
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

/** Quotes a message of the server: to an agent it is data, not an instruction. */
const fromServer = (message: string) => `the server says ${quoted(message)}`

/** Where the request of a change stands. An agent must neither take a change that waits for made, nor ask for it again. */
const requested = ({ page, request: { id, needed, state, was_waiting } }: ChangeWaits): string => {
  if (state === "done") {
    return sentence(
      "CHANGE_MADE",
      `request ${id} was approved, and the change was made`,
      "do not call again; read what it changed with the listing tools"
    )
  }
  if (state !== "pending") {
    return sentence("CHANGE_NOT_MADE", `request ${id} is ${state}, and nothing was changed`, notAgain)
  }
  const waits =
    was_waiting === true
      ? `the same change was asked for before, and request ${id} still waits`
      : `the environment is protected, and request ${id} waits`
  return sentence(
    "CHANGE_REQUESTED",
    `nothing was changed yet: ${waits} until ${needed === 1 ? "1 person approves it" : `${needed} people approve it`}`,
    `do not call again, and do not count on the change: tell the user that a person must approve request ${id}, by coffer request approve or at ${page}`
  )
}

/** Returns the next step of an agent. Commands are its person's; they name what the server said, quoted as data. */
const nextStep = (next: NextStep, message: string, asker: Asker): string => {
  const known = next === "askForRight" && !namesCommand(message) ? afterRefusal(message, asker) : undefined
  return known === undefined ? steps[next] : `${notAgain} what helps: ${quoted(known)}`
}

/** A failure in one line, for an agent: the code, the cause and the next step. */
export const describe = (failure: Failure, asker: Asker): string => {
  if (failure._tag === "ChangeWaits") return requested(failure)
  if ("handling" in failure) {
    // An older server does not have every call of this client.
    const isNoCall = failure._tag === "NotFound" && failure.message.startsWith("no such path")
    return sentence(
      failure.code,
      fromServer(failure.message),
      isNoCall ? olderProgram : nextStep(failure.handling.next, failure.message, asker)
    )
  }
  if (failure._tag === "UnknownApiError") {
    const { code, next } = own.UnknownApiError
    return sentence(
      /^[A-Z][A-Z0-9_]{0,63}$/.test(failure.code) ? failure.code : code,
      fromServer(failure.message),
      next
    )
  }
  if (failure._tag === "SignInFailed") {
    const { detail, next, reason } = failure
    const cause = detail === undefined ? reason : `${reason}: ${fromServer(detail)}`
    return sentence(own.SignInFailed.code, cause, `ask the user: ${next}`)
  }
  const { code, next } = own[failure._tag]
  if (failure._tag === "ServerUnreachable" && failure.next !== undefined) {
    return sentence(code, plain(failure.message), "tell the user, who can change that")
  }
  const isFromProxy = failure._tag === "UnexpectedResponse" && failure.isFromProxy
  return sentence(code, plain(failure.message), isFromProxy ? operator : next)
}
