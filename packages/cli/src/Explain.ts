import { configuredBy } from "@coffer/client/internal/Credentials"
import * as Effect from "effect/Effect"
import { describe, saysNext } from "./Describe.js"
import type { Failure } from "./Failures.js"
import type { Output } from "./terminal/Output.js"
import { note } from "./terminal/Print.js"

/** The server does not say which credential it refused, unless that is a delegation. */
const notTaken = Effect.map(configuredBy, (variable) => {
  if (variable === undefined) return "your session at the server has ended; run coffer login"
  return variable === "SERVICE_ACCOUNT"
    ? "the server has ended this session: the service account or its federation is revoked; check SERVICE_ACCOUNT"
    : "the server does not take your API key: it is mistyped, revoked, expired or another server's; check SERVICE_API_KEY"
})

/** Explains a failure on standard error. Returns the exit code. */
export const explain = (failure: Failure): Effect.Effect<number, never, Output> =>
  Effect.gen(function* () {
    const { exitCode, sentence } = describe(failure)
    const details = failure._tag === "BadFile" ? failure.lines : []
    yield* Effect.forEach(details, note)
    yield* note(failure._tag === "Unauthorized" && !saysNext(failure.message) ? yield* notTaken : sentence)
    return exitCode
  })
