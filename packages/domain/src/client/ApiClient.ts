import type * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import { Effect } from "effect"
import { Api } from "../Api.js"
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

export type GroupClients = { readonly [Name in GroupName]: Effect.Effect<GroupClient<Name>> }

/** An effect that runs once and remembers its result. */
const once = <A>(make: Effect.Effect<A>): Effect.Effect<A> => {
  let made: { readonly value: A } | undefined
  return Effect.suspend(() =>
    made === undefined
      ? Effect.tap(make, (value) => {
          made = { value }
        })
      : Effect.succeed(made.value)
  )
}

/** The typed clients of all groups. Each is built on first use, because building all takes longer than most requests. */
export const groupClients = (options: {
  readonly httpClient: HttpClient.HttpClient.With<ClientError | HttpClientError>
  readonly baseUrl: string
}): GroupClients => ({
  auth: once(HttpApiClient.group(Api, { ...options, group: "auth" })),
  organizations: once(HttpApiClient.group(Api, { ...options, group: "organizations" })),
  members: once(HttpApiClient.group(Api, { ...options, group: "members" })),
  projects: once(HttpApiClient.group(Api, { ...options, group: "projects" })),
  environments: once(HttpApiClient.group(Api, { ...options, group: "environments" })),
  secrets: once(HttpApiClient.group(Api, { ...options, group: "secrets" })),
  acl: once(HttpApiClient.group(Api, { ...options, group: "acl" })),
  serviceAccounts: once(HttpApiClient.group(Api, { ...options, group: "serviceAccounts" })),
  users: once(HttpApiClient.group(Api, { ...options, group: "users" })),
  audit: once(HttpApiClient.group(Api, { ...options, group: "audit" })),
  backups: once(HttpApiClient.group(Api, { ...options, group: "backups" })),
  system: once(HttpApiClient.group(Api, { ...options, group: "system" }))
})
