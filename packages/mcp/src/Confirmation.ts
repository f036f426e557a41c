import * as Effect from "effect/Effect"
import { NotConfirmed } from "./Failures.js"
import type { Host, Reply } from "./ToolResult.js"

/** Asks the person whether a call may go on. */
export type Confirm = (question: string) => Effect.Effect<void, NotConfirmed>

/** The reaction of a person to a question, in words for the agent. */
export const said = {
  declined: "the user declined",
  cancelled: "the user dismissed the question",
  unanswered: "the user did not answer the question"
} as const satisfies Record<Exclude<Reply, "accepted"> | "unanswered", string>

/** Confirms by the host. Where the host cannot ask, calls go on: the host's own approval of calls is then all there is. */
export const confirmBy =
  (ask: Host["ask"]): Confirm =>
  (question) =>
    ask === undefined
      ? Effect.void
      : Effect.tryPromise((signal) => ask(question, signal)).pipe(
          Effect.orElseSucceed(() => "unanswered" as const),
          Effect.flatMap((reply) =>
            reply === "accepted"
              ? Effect.void
              : new NotConfirmed({ message: `${said[reply]} ("${question}"), and nothing was deleted` })
          )
        )
