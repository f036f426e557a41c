import { configuredBy } from "@coffer/client/internal/Credentials"
import * as Effect from "effect/Effect"
import { describe } from "../base/Describe.js"
import { codeOfFailure, reportFailure } from "./FailureForm.js"
import type { Failure } from "../base/Failures.js"
import { type Asker, saysNext } from "@coffer/domain/errors/NextSteps"
import type { Output } from "../terminal/Output.js"

/** The server does not say which credential it refused, unless that is a delegation. */
const notTaken = Effect.map(configuredBy, (variable) => {
  if (variable === undefined) return "your session at the server has ended; run coffer login"
  return variable === "SERVICE_ACCOUNT"
    ? "the server has ended this session: the service account or its federation is revoked; check SERVICE_ACCOUNT"
    : "the server does not take your API key: it is mistyped, revoked, expired or another server's; check SERVICE_API_KEY"
})

/** Whose credential a command has sent. */
const asker = Effect.map(configuredBy, (variable): Asker => (variable === undefined ? "person" : "account"))

/** The sentence for a failure. Of a refused credential, the server does not say which it was. */
export const sentenceFor = (failure: Failure) =>
  failure._tag === "Unauthorized" && !saysNext(failure.message)
    ? notTaken
    : Effect.map(asker, (each) => describe(failure, each).sentence)

/** Explains a failure on standard error. Returns the exit code. */
export const explain = (failure: Failure): Effect.Effect<number, never, Output> =>
  Effect.gen(function* () {
    const { exitCode } = describe(failure)
    const details = failure._tag === "BadFile" ? failure.lines : []
    yield* reportFailure(codeOfFailure(failure), [...details, yield* sentenceFor(failure)])
    return exitCode
  })
