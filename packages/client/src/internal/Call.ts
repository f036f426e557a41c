/** The types of calls of the contract, apart from what makes them: applications see these. */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiClient from "@effect/platform/HttpApiClient"
import type { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import type * as Effect from "effect/Effect"
import type { ParseError } from "effect/ParseResult"
import type { Api } from "@coffer/domain/Api"
import type { ClientError } from "./ClientErrors.js"

type Contract<A> =
  A extends HttpApi.HttpApi<infer _Id, infer Groups, infer E, infer _R> ? { groups: Groups; error: E } : never
type Groups = Contract<typeof Api>["groups"]

/** The groups of the contract, such as `secrets`. */
export type GroupName = HttpApiGroup.HttpApiGroup.Name<Groups>

/** The endpoints of a group, by name. */
export type GroupClient<Name extends GroupName> = HttpApiClient.Client.Group<
  Groups,
  Name,
  Contract<typeof Api>["error"] | ClientError | HttpClientError,
  never
>

/** Errors of the HTTP toolkit. `Call` replaces them by a `ClientError`. */
export type ToolkitError = HttpClientError | ParseError | HttpApiDecodeError

/** Calls any endpoint of the contract: `call("secrets", (api) => api.list({ path, urlParams: {} }))`. */
export type Call = <Name extends GroupName, A, E, R>(
  group: Name,
  f: (api: GroupClient<Name>) => Effect.Effect<A, E, R>
) => Effect.Effect<A, Exclude<E, Extract<E, ToolkitError>> | ClientError, R>

/** `Call` of some groups. */
export type CallOf<Names extends GroupName> = <Name extends Names, A, E, R>(
  group: Name,
  f: (api: GroupClient<Name>) => Effect.Effect<A, E, R>
) => Effect.Effect<A, Exclude<E, Extract<E, ToolkitError>> | ClientError, R>
