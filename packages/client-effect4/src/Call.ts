import * as core from "@coffer/client/promise"
import type { YieldableError } from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

interface Failure {
  readonly message: string
  /** The status of the response, if there was one. */
  readonly status?: number
  /** The seconds to wait before the next attempt, if the server sends them. */
  readonly retryAfter?: number
  /** With `ChangeRequested`: the request that waits for votes. */
  readonly request?: core.ChangeRequested
}

/** A call failed. No message contains a value. */
export interface CallError<Tag extends string> extends YieldableError, Failure {
  readonly _tag: Tag
  readonly message: string
}

type ErrorOf<Tag> = Tag extends string ? CallError<Tag> : never

/** The errors of every call beside those of the endpoint. */
type Common =
  | "BadSetting"
  | "InvalidRequest"
  | "ServerUnreachable"
  | "SignInFailed"
  | "UnexpectedResponse"
  | "UnknownApiError"
  | core.CommonTag

/** The calls of a group, by name. Requests and responses are those of the HTTP API: dates and values are texts. */
export type Api<Name extends core.Group> = {
  readonly [Call in keyof core.Contract[Name]]: (
    ...request: core.RequestOf<core.Contract[Name][Call]>
  ) => Effect.Effect<
    core.ResponseOf<core.Contract[Name][Call]>,
    ErrorOf<Common | (core.Contract[Name][Call] extends { readonly error: infer Tag } ? Tag : never)>
  >
}

/** Makes calls of the HTTP API: `call("secrets", (api) => api.list({ path }))`. */
export type Call = <Name extends core.Group, A, E, R>(
  group: Name,
  f: (api: Api<Name>) => Effect.Effect<A, E, R>,
  asking?: core.Asking
) => Effect.Effect<A, E, R>

const classes = new Map<string, new (failure: Failure) => CallError<string>>()

const classOf = (tag: string) => {
  const made = classes.get(tag) ?? class extends Data.TaggedError(tag)<Failure> {}
  classes.set(tag, made)
  return made
}

const toError = ({ message, reason, request, retryAfter, status }: core.CallError) =>
  new (classOf(reason))({
    message,
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(request !== undefined && { request })
  })

export const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, CallError<string>> =>
  Effect.catch(Effect.tryPromise({ try: work, catch: (cause) => ({ cause }) }), ({ cause: error }) =>
    error instanceof core.CallError ? Effect.fail(toError(error)) : Effect.die(error)
  )

type Method = (...request: ReadonlyArray<unknown>) => Promise<unknown>

const isMethods = (api: object): api is Readonly<Record<string, Method>> =>
  Object.values(api).every((method) => typeof method === "function")

const isApi = <Name extends core.Group>(made: object, like: core.Api<Name>): made is Api<Name> =>
  Object.keys(like).every((name) => name in made)

/** The calls of promises as effects. */
const effectsOf = <Name extends core.Group>(api: core.Api<Name>): Effect.Effect<Api<Name>> => {
  if (!isMethods(api)) return Effect.die(new Error("a group of calls holds something else"))
  const made = Object.fromEntries(
    Object.entries(api).map(([name, method]) => [
      name,
      (...request: ReadonlyArray<unknown>) => attempt(() => method(...request))
    ])
  )
  return isApi<Name>(made, api) ? Effect.succeed(made) : Effect.die(new Error("a call is missing"))
}

/** The calls of a connection. */
export const callsOver =
  ({ call }: Pick<core.Connection, "call">): Call =>
  (group, f, asking) =>
    Effect.promise(() => call(group, (api) => api, asking)).pipe(Effect.flatMap(effectsOf), Effect.flatMap(f))
