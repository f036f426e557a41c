import type { GroupClient, GroupName, ToolkitError } from "@coffer/client/internal/Call"
import type { ClientError } from "@coffer/client/internal/ClientErrors"
import { Reauthenticate, Unauthorized } from "@coffer/domain/Errors"
import * as Effect from "effect/Effect"
import { askLogin } from "../state/Login.js"
import { plainCall } from "./Client.js"

/** Everything that a call can fail with has a message for people. */
export interface Failure {
  readonly _tag: string
  readonly message: string
}

type Failed<E> = Exclude<E, Extract<E, ToolkitError>> | ClientError

/**
 * A call of the contract: `call("projects", (api) => api.list({ path }))`. If the session has ended, or its login is too
 * old for the call, the person is asked to log in, and the call is repeated.
 */
export const call = <Name extends GroupName, A, E, R>(
  group: Name,
  f: (api: GroupClient<Name>) => Effect.Effect<A, E, R>
): Effect.Effect<A, Failed<E>, R> =>
  Effect.catchAll(plainCall(group, f), (failure) => {
    if (failure instanceof Unauthorized) return Effect.zipRight(askLogin("ended", failure), call(group, f))
    if (failure instanceof Reauthenticate) return Effect.zipRight(askLogin("recent", failure), call(group, f))
    return Effect.fail(failure)
  })
