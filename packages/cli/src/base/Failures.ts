import type { ClientError } from "@coffer/client/internal/ClientErrors"
import type { CredentialError } from "@coffer/client/internal/Credentials"
import type { BadServiceFile } from "@coffer/client/internal/ServiceFile"
import type { MissingSettings } from "@coffer/client/internal/Settings"
import type { BadSetting } from "@coffer/client/internal/Variables"
import type { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import type { AnyApiError } from "@coffer/domain/errors/Errors"
import { replaceInvisible } from "@coffer/domain/base/Invisible"
import * as Data from "effect/Data"
import type { BadArchive } from "./BadArchive.js"
import type { BadFile } from "@coffer/domain/formats/Format"

/** The command line is wrong. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

/** The client cannot do it. The message says why, and what to do. */
export class CannotDo extends Data.TaggedError("CannotDo")<{ readonly message: string }> {}

/** Nothing is done before another person agrees. The message says who, and how to continue. */
export class Waits extends Data.TaggedError("Waits")<{ readonly message: string }> {}

/** A name is in no list of the server. */
export class NotThere extends Data.TaggedError("NotThere")<{ readonly message: string }> {}

/** Everything that a command can fail with. */
export type Failure =
  | AnyApiError
  | BadArchive
  | BadFile
  | BadServiceFile
  | BadSetting
  | CannotDo
  | ChangeRequested
  | ClientError
  | CredentialError
  | MissingSettings
  | NotThere
  | Waits
  | WrongUsage

/** The exit codes of the client: `waits` is of what other people must agree to. That of a reader that is gone is the code of a death by SIGPIPE. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notAuthenticated: 3,
  notFound: 4,
  waits: 5,
  readerGone: 141
} as const

/** The text without characters that act on a terminal: a hostile server may have sent it. */
export const plain = (text: string): string => replaceInvisible(text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " "), "\ufffd")

/** A sentence without what ends it, so that more can follow. */
export const withoutEnd = (message: string): string => plain(message).replace(/[.;:]?\s*$/, "")
