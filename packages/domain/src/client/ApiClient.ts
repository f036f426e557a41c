import type * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import { Effect, Runtime } from "effect"
import { Api } from "../Api.js"
import type { ClientError } from "./ClientErrors.js"

type Contract<A> =
  A extends HttpApi.HttpApi<infer _Id, infer Groups, infer E, infer _R> ? { groups: Groups; error: E } : never
type Groups = Contract<typeof Api>["groups"]

/** All endpoints of the contract, by group and name. */
export type ApiClient = {
  readonly [Name in HttpApiGroup.HttpApiGroup.Name<Groups>]: HttpApiClient.Client.Group<
    Groups,
    Name,
    Contract<typeof Api>["error"] | ClientError | HttpClientError,
    never
  >
}

/** Returns a function that computes the value on its first call and caches it. */
const once = <A>(make: () => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

/** Builds the typed client. Each group is built on first use, because building all groups takes longer than most requests. */
export const makeApiClient = Effect.fnUntraced(function* (options: {
  readonly httpClient: HttpClient.HttpClient.With<ClientError | HttpClientError>
  readonly baseUrl: string
}) {
  const runtime = yield* Effect.runtime()
  const lazily = <A>(effect: Effect.Effect<A>) => once(() => Runtime.runSync(runtime, effect))
  const auth = lazily(HttpApiClient.group(Api, { ...options, group: "auth" }))
  const organizations = lazily(HttpApiClient.group(Api, { ...options, group: "organizations" }))
  const members = lazily(HttpApiClient.group(Api, { ...options, group: "members" }))
  const projects = lazily(HttpApiClient.group(Api, { ...options, group: "projects" }))
  const environments = lazily(HttpApiClient.group(Api, { ...options, group: "environments" }))
  const secrets = lazily(HttpApiClient.group(Api, { ...options, group: "secrets" }))
  const acl = lazily(HttpApiClient.group(Api, { ...options, group: "acl" }))
  const serviceAccounts = lazily(HttpApiClient.group(Api, { ...options, group: "serviceAccounts" }))
  const users = lazily(HttpApiClient.group(Api, { ...options, group: "users" }))
  const audit = lazily(HttpApiClient.group(Api, { ...options, group: "audit" }))
  const backups = lazily(HttpApiClient.group(Api, { ...options, group: "backups" }))
  const system = lazily(HttpApiClient.group(Api, { ...options, group: "system" }))
  const api: ApiClient = {
    get auth() {
      return auth()
    },
    get organizations() {
      return organizations()
    },
    get members() {
      return members()
    },
    get projects() {
      return projects()
    },
    get environments() {
      return environments()
    },
    get secrets() {
      return secrets()
    },
    get acl() {
      return acl()
    },
    get serviceAccounts() {
      return serviceAccounts()
    },
    get users() {
      return users()
    },
    get audit() {
      return audit()
    },
    get backups() {
      return backups()
    },
    get system() {
      return system()
    }
  }
  return api
})
