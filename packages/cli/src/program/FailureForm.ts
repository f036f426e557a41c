import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { plain } from "../base/Failures.js"
import { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"

/** How a command shows what it failed with, on standard error: in a sentence, or as the API's envelope for machines. */
export class FailureForm extends Context.Reference<FailureForm>()("@coffer/cli/program/FailureForm", {
  defaultValue: (): "sentence" | "json" => "sentence"
}) {}

/** The form that a command line asks for. Behind `--`, it is another program's. */
export const failureFormOf = (argv: ReadonlyArray<string>): "sentence" | "json" => {
  const end = argv.indexOf("--")
  const own = end < 0 ? argv : argv.slice(0, end)
  return own.includes("--json") || own.includes("-j") ? "json" : "sentence"
}

/** The codes of failures that are the client's own. Those of the server have their own. */
const codes: Readonly<Record<string, string>> = {
  ChangeRequested: "CHANGE_REQUESTED",
  InvalidRequest: "INVALID_REQUEST",
  MissingSettings: "MISSING_SETTINGS",
  NotAuthenticated: "NOT_AUTHENTICATED",
  NotThere: "NOT_FOUND",
  ServerUnreachable: "SERVER_UNREACHABLE",
  SignInFailed: "SIGN_IN_FAILED",
  UnexpectedResponse: "UNEXPECTED_RESPONSE",
  UntrustedServer: "UNTRUSTED_SERVER",
  Waits: "WAITS",
  WrongUsage: "WRONG_USAGE",
  BadArchive: "BAD_ARCHIVE",
  BadFile: "BAD_FILE",
  BadServiceFile: "BAD_SERVICE_FILE",
  BadSetting: "BAD_SETTING",
  PrivateFileError: "BAD_PRIVATE_FILE"
}

/** The code of a failure, for machines. */
export const codeOfFailure = (failure: { readonly _tag: string; readonly code?: unknown }): string =>
  typeof failure.code === "string" ? failure.code : (codes[failure._tag] ?? "FAILED")

/** Reports a failure on standard error: `{"error":{"code","message"}}` with `--json`, else a line for each sentence. */
export const reportFailure = (code: string, sentences: ReadonlyArray<string>): Effect.Effect<void, never, Output> =>
  Effect.flatMap(FailureForm, (form) =>
    form === "sentence"
      ? Effect.forEach(sentences, note, { discard: true })
      : Effect.map(Output, ({ writeError }) =>
          writeError(`${JSON.stringify({ error: { code, message: sentences.map(plain).join("; ") } })}\n`)
        )
  )
