import type { Handling, NextStep } from "@coffer/domain/errors/ApiError"
import type { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import { type AnyApiError, handlingOf } from "@coffer/domain/errors/Errors"
import { momentText } from "./Moments.js"
import { exitCodes, type Failure, plain, withoutEnd } from "./Failures.js"
import { afterRefusal, type Asker, namesCommand, saysNext } from "@coffer/domain/errors/NextSteps"
import { ofOlderServer } from "./OlderServer.js"

interface Kind {
  readonly exit: keyof typeof exitCodes
  /** The next step, unless the message states it. */
  readonly next?: string | undefined
}

const checkAddress = "check --server-url, SERVICE_SERVER_URL and server_url in service.yml"

/** The next step of each error of the server, unless its message says it. */
const steps: { readonly [Step in NextStep]?: string } = {
  askForApproval: "coffer env protection NAME shows who may approve",
  authenticate: "run coffer login, or check SERVICE_API_KEY",
  logIn: "run coffer login again",
  checkNames: "see what exists with coffer org, project, environment or secret list",
  checkChange: "see whether the change was made; secret set with --if-version can simply be run again",
  retry: "try again in a moment",
  updateClient: "the server and this client have different versions: update the older one",
  report: "contact the operator of the server",
  readLog: "contact the operator of the server: its log has the details"
}

/** The failures that the server did not declare. */
const own: { readonly [Tag in Exclude<Failure["_tag"], AnyApiError["_tag"]>]: Kind } = {
  // From the connection.
  InvalidRequest: { exit: "usage" },
  ServerUnreachable: { exit: "failed", next: `see whether the server runs there, and ${checkAddress}` },
  UnexpectedResponse: { exit: "failed", next: `that may not be its address: ${checkAddress}` },
  UnknownApiError: { exit: "failed", next: "this client does not know that response: update coffer" },
  // From the client.
  BadArchive: { exit: "failed" },
  BadFile: { exit: "failed" },
  BadServiceFile: { exit: "usage" },
  BadSetting: { exit: "usage" },
  CannotDo: { exit: "failed" },
  ChangeRequested: { exit: "waits" },
  MissingSettings: { exit: "usage" },
  NotAuthenticated: { exit: "notAuthenticated" },
  NotThere: { exit: "notFound" },
  PrivateFileError: { exit: "failed" },
  SignInFailed: { exit: "notAuthenticated" },
  UntrustedServer: { exit: "failed" },
  Waits: { exit: "waits" },
  WrongUsage: { exit: "usage" }
}

const afterApiError = ({ exit, next }: Handling, message: string, asker: Asker): Kind => {
  if (namesCommand(message)) return { exit }
  if ((next === "askForRight" || next === "authenticate") && saysNext(message)) return { exit }
  return { exit, next: next === "askForRight" ? afterRefusal(message, asker) : steps[next] }
}

const kindOf = (failure: Failure, asker: Asker): Kind => {
  if ("handling" in failure) return afterApiError(failure.handling, failure.message, asker)
  const handling = failure._tag === "UnknownApiError" ? handlingOf(failure.code) : undefined
  if (handling !== undefined) return afterApiError(handling, failure.message, asker)
  if (failure._tag === "UnexpectedResponse" && failure.isFromProxy) return { exit: "failed" }
  if (failure._tag === "ServerUnreachable" && failure.next !== undefined) return { exit: "failed" }
  return own[failure._tag]
}

/** Describes a change that waits for approval, with the next commands. */
const waiting = ({ request: { env, expires_at, id, needed, project, was_waiting } }: ChangeRequested): string => {
  const votes = needed === 1 ? "1 person approves it" : `${needed} people approve it`
  const next = `see it with: coffer request show ${id}; voters run: coffer request approve ${id}`
  const what =
    was_waiting === true
      ? `you asked for the same change of ${project}/${env} before, and request ${id} still waits`
      : `${project}/${env} is protected, and request ${id} waits`
  return `nothing was changed yet: ${what} until ${votes}, at most until ${momentText(expires_at)}; ${next}`
}

/** The message and the exit code of a failure. */
export const describe = (
  failure: Failure,
  asker: Asker = "person"
): { readonly sentence: string; readonly exitCode: number } => {
  const { exit, next } = kindOf(failure, asker)
  const older = ofOlderServer(failure)
  if (older !== undefined) return { sentence: plain(older), exitCode: exitCodes[exit] }
  const message = withoutEnd(failure._tag === "ChangeRequested" ? waiting(failure) : failure.message)
  const joint = message.endsWith("?") ? " " : "; "
  return { sentence: next === undefined ? message : message + joint + next, exitCode: exitCodes[exit] }
}
