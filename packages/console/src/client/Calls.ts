import { asking } from "@coffer/client/internal/Asking"
import type { GroupClient, ToolkitError } from "@coffer/client/internal/Call"
import type { ClientError } from "@coffer/client/internal/ClientErrors"
import { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import { ApprovalRequired, Reauthenticate, Unauthorized } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { orgOfPath } from "../routing/ApiPlace.js"
import { askApproval } from "../state/Approval.js"
import { askLogin } from "../state/Login.js"
import { noteProposed } from "../state/Proposed.js"
import { type CalledGroup, notePath, plainCall } from "./Client.js"

/** Everything that a call can fail with has a message for people. */
export interface Failure {
  readonly _tag: string
  readonly message: string
}

type Failed<E> = Exclude<E, Extract<E, ToolkitError>> | ClientError | ApprovalRequired

/** Without headers, a change of a protected environment is refused: the person has not been asked. */
const unasked = {}

const declined = new ApprovalRequired({ message: "nothing was changed or requested: the environment is protected" })

/**
 * A call of the contract: `call("projects", (api) => api.list({ path }))`. If the session has ended, or its login is too
 * old for the call, the person is asked to log in; if the environment is protected, to request the change. Then the call is
 * repeated. A call that became a request fails with `ChangeRequested`.
 */
export const call = <Name extends CalledGroup, A, E, R>(
  group: Name,
  f: (api: GroupClient<Name>) => Effect.Effect<A, E, R>,
  headers: Readonly<Record<string, string>> = unasked
): Effect.Effect<A, Failed<E>, R> =>
  Effect.suspend(() => {
    let path = ""
    const note = (sent: string) => {
      path = sent
    }
    return plainCall(group, f).pipe(
      Effect.locally(asking, headers),
      Effect.locally(notePath, note),
      Effect.catchAll((failure) => {
        if (failure instanceof Unauthorized) return Effect.zipRight(askLogin("ended", failure), call(group, f, headers))
        if (failure instanceof Reauthenticate) {
          return Effect.zipRight(askLogin("recent", failure), call(group, f, headers))
        }
        if (failure instanceof ApprovalRequired && headers === unasked) {
          return Effect.flatMap(askApproval(path, declined), (answer) => call(group, f, answer))
        }
        const org = orgOfPath(path)
        if (failure instanceof ChangeRequested && org !== null) noteProposed(org, failure.request)
        return Effect.fail(failure)
      })
    )
  })
