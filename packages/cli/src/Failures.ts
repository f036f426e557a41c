import type { ClientError } from "@coffer/domain/client/ClientErrors"
import type { CredentialError } from "@coffer/domain/client/Credentials"
import type { BadServiceFile } from "@coffer/domain/client/ServiceFile"
import type { BadSetting, MissingSettings } from "@coffer/domain/client/Settings"
import type { AnyApiError } from "@coffer/domain/Errors"
import { replaceInvisible } from "@coffer/domain/Invisible"
import { Data } from "effect"
import type { BadFile } from "@coffer/domain/formats/Format"

/** The command line is wrong. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

/** The client cannot do it. The message says why, and what to do. */
export class CannotDo extends Data.TaggedError("CannotDo")<{ readonly message: string }> {}

/** A name is in no list of the server. */
export class NotThere extends Data.TaggedError("NotThere")<{ readonly message: string }> {}

/** Everything that a command can fail with. */
export type Failure =
  | AnyApiError
  | BadFile
  | BadServiceFile
  | BadSetting
  | CannotDo
  | ClientError
  | CredentialError
  | MissingSettings
  | NotThere
  | WrongUsage

/** The exit codes of the client. That of a reader that is gone is the code of a death by SIGPIPE. */
export const exitCodes = { done: 0, failed: 1, usage: 2, notAuthenticated: 3, notFound: 4, readerGone: 141 } as const

interface Kind {
  readonly exit: keyof typeof exitCodes
  /** What to do next, unless the message says it. */
  readonly next?: string
}

const checkAddress = "check --server-url, SERVICE_SERVER_URL and server_url in service.yml"
const newerServer = "the server is newer than this client: update coffer"

const kinds: { readonly [Tag in Failure["_tag"]]: Kind } = {
  // From the server.
  ValidationError: { exit: "failed" },
  Unauthorized: { exit: "notAuthenticated", next: "run coffer login, or check SERVICE_API_KEY" },
  InvalidCode: { exit: "notAuthenticated", next: "run coffer login again" },
  AuthorizationPending: { exit: "notAuthenticated" },
  Forbidden: { exit: "failed", next: "ask an administrator of the organization" },
  UseRefused: { exit: "failed" },
  UseWidens: { exit: "failed" },
  ReferenceRefused: { exit: "failed" },
  PatternBroken: { exit: "failed" },
  ApprovalNeeded: { exit: "failed" },
  UseBudget: { exit: "failed" },
  UpstreamFailed: { exit: "failed" },
  BrokerDisabled: { exit: "failed" },
  Reauthenticate: { exit: "notAuthenticated", next: "run coffer login again" },
  NotFound: {
    exit: "notFound",
    next: "see what is there with coffer org, project, environment or secret list"
  },
  MethodNotAllowed: { exit: "failed", next: newerServer },
  Conflict: { exit: "failed" },
  LastOwner: { exit: "failed" },
  LimitExceeded: { exit: "failed" },
  PayloadTooLarge: { exit: "failed" },
  UnsupportedMediaType: { exit: "failed", next: newerServer },
  RateLimited: { exit: "failed" },
  SlowDown: { exit: "failed" },
  LockedOut: { exit: "failed" },
  DecryptionFailed: { exit: "failed", next: "tell whoever runs the server" },
  InternalError: { exit: "failed", next: "tell whoever runs the server: its log has the details" },
  BackupFailed: { exit: "failed" },
  BackupsDisabled: { exit: "failed" },
  NotReady: { exit: "failed", next: "try again in a moment" },
  IssuerUnavailable: { exit: "failed" },
  Overloaded: { exit: "failed" },
  DatabaseUnavailable: { exit: "failed", next: "try again in a moment" },
  OutcomeUnknown: {
    exit: "failed",
    next: "look whether the change is there; secret set with --if-version can simply be run again"
  },
  // From the connection.
  InvalidRequest: { exit: "usage" },
  ServerUnreachable: { exit: "failed", next: `see whether the server runs there, and ${checkAddress}` },
  UnexpectedResponse: { exit: "failed", next: `that may not be its address: ${checkAddress}` },
  UnknownApiError: { exit: "failed", next: "this client does not know that answer: update coffer" },
  // From the client.
  BadFile: { exit: "failed" },
  BadServiceFile: { exit: "usage" },
  BadSetting: { exit: "usage" },
  CannotDo: { exit: "failed" },
  MissingSettings: { exit: "usage" },
  NotAuthenticated: { exit: "notAuthenticated" },
  NotThere: { exit: "notFound" },
  PrivateFileError: { exit: "failed" },
  SignInFailed: { exit: "notAuthenticated" },
  UntrustedServer: { exit: "failed" },
  WrongUsage: { exit: "usage" }
}

/** The text without characters that act on a terminal: a hostile server may have sent it. */
export const plain = (text: string): string => replaceInvisible(text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " "), "\ufffd")

const isTag = (tag: string): tag is Failure["_tag"] => Object.hasOwn(kinds, tag)

/** The tag of the API error with this code: `NotFound` for `NOT_FOUND`. */
const tagOf = (code: string) =>
  code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Who can give a right that the server's message names. The first form that fits decides; null where the message says it. */
const advisers: ReadonlyArray<readonly [form: RegExp, next: string | null]> = [
  [/: (?:ask|log in|run) |needs a person/, null],
  [/superadmin/, "ask a superadmin of the server"],
  [/role owner|an owner/, "ask an owner of the organization"]
]

const forbidden = (message: string): Kind => {
  const next = advisers.find(([form]) => form.test(message))?.[1]
  return next === null ? { exit: "failed" } : next === undefined ? kinds.Forbidden : { exit: "failed", next }
}

const kindOf = (failure: Failure): Kind => {
  if (failure._tag === "Forbidden") return forbidden(failure.message)
  if (failure._tag === "UnexpectedResponse" && failure.isFromProxy) return { exit: "failed" }
  const tag = failure._tag === "UnknownApiError" ? tagOf(failure.code) : failure._tag
  return kinds[isTag(tag) ? tag : failure._tag]
}

/** A sentence without what ends it, so that more can follow. */
export const withoutEnd = (message: string): string => plain(message).replace(/[.;:]?\s*$/, "")

/** The message and the exit code of a failure. */
export const describe = (failure: Failure): { readonly sentence: string; readonly exitCode: number } => {
  const { exit, next } = kindOf(failure)
  const message = withoutEnd(failure.message)
  const joint = message.endsWith("?") ? " " : "; "
  return { sentence: next === undefined ? message : message + joint + next, exitCode: exitCodes[exit] }
}
