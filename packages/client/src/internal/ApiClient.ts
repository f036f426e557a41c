import * as HttpApiClient from "@effect/platform/HttpApiClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as Effect from "effect/Effect"
import { AnyApi } from "@coffer/domain/api/AnyApi"
import type { GroupClient, GroupName } from "./Call.js"
import type { ClientError } from "./ClientErrors.js"

export type GroupClients = { readonly [Name in GroupName]: Effect.Effect<GroupClient<Name>> }

/** An effect that loads a client once and remembers it. */
const once = <A>(load: () => Promise<Effect.Effect<A>>): Effect.Effect<A> => {
  let made: { readonly value: A } | undefined
  return Effect.suspend(() =>
    made === undefined
      ? Effect.tap(Effect.flatten(Effect.promise(load)), (value) => {
          made = { value }
        })
      : Effect.succeed(made.value)
  )
}

/**
 * The typed clients of all groups. Each group is loaded and built on first use, because all take longer than most
 * requests.
 */
export const groupClients = (options: {
  readonly httpClient: HttpClient.HttpClient.With<ClientError | HttpClientError>
  readonly baseUrl: string
}): GroupClients => ({
  auth: once(async () => {
    const { AuthApi } = await import("@coffer/domain/api/AuthApi")
    return HttpApiClient.group(AnyApi.add(AuthApi), { ...options, group: "auth" })
  }),
  passkeys: once(async () => {
    const { PasskeysApi } = await import("@coffer/domain/api/PasskeysApi")
    return HttpApiClient.group(AnyApi.add(PasskeysApi), { ...options, group: "passkeys" })
  }),
  delegations: once(async () => {
    const { DelegationsApi } = await import("@coffer/domain/api/DelegationsApi")
    return HttpApiClient.group(AnyApi.add(DelegationsApi), { ...options, group: "delegations" })
  }),
  organizations: once(async () => {
    const { OrganizationsApi } = await import("@coffer/domain/api/OrganizationsApi")
    return HttpApiClient.group(AnyApi.add(OrganizationsApi), { ...options, group: "organizations" })
  }),
  exports: once(async () => {
    const { ExportsApi } = await import("@coffer/domain/api/ExportsApi")
    return HttpApiClient.group(AnyApi.add(ExportsApi), { ...options, group: "exports" })
  }),
  imports: once(async () => {
    const { ImportsApi } = await import("@coffer/domain/api/ImportsApi")
    return HttpApiClient.group(AnyApi.add(ImportsApi), { ...options, group: "imports" })
  }),
  members: once(async () => {
    const { MembersApi } = await import("@coffer/domain/api/MembersApi")
    return HttpApiClient.group(AnyApi.add(MembersApi), { ...options, group: "members" })
  }),
  projects: once(async () => {
    const { ProjectsApi } = await import("@coffer/domain/api/ProjectsApi")
    return HttpApiClient.group(AnyApi.add(ProjectsApi), { ...options, group: "projects" })
  }),
  environments: once(async () => {
    const { EnvironmentsApi } = await import("@coffer/domain/api/EnvironmentsApi")
    return HttpApiClient.group(AnyApi.add(EnvironmentsApi), { ...options, group: "environments" })
  }),
  declared: once(async () => {
    const { DeclaredApi } = await import("@coffer/domain/api/DeclaredApi")
    return HttpApiClient.group(AnyApi.add(DeclaredApi), { ...options, group: "declared" })
  }),
  secrets: once(async () => {
    const { SecretsApi } = await import("@coffer/domain/api/SecretsApi")
    return HttpApiClient.group(AnyApi.add(SecretsApi), { ...options, group: "secrets" })
  }),
  dues: once(async () => {
    const { DuesApi } = await import("@coffer/domain/api/DuesApi")
    return HttpApiClient.group(AnyApi.add(DuesApi), { ...options, group: "dues" })
  }),
  keys: once(async () => {
    const { KeysApi } = await import("@coffer/domain/api/KeysApi")
    return HttpApiClient.group(AnyApi.add(KeysApi), { ...options, group: "keys" })
  }),
  history: once(async () => {
    const { HistoryApi } = await import("@coffer/domain/api/HistoryApi")
    return HttpApiClient.group(AnyApi.add(HistoryApi), { ...options, group: "history" })
  }),
  overview: once(async () => {
    const { OverviewApi } = await import("@coffer/domain/api/OverviewApi")
    return HttpApiClient.group(AnyApi.add(OverviewApi), { ...options, group: "overview" })
  }),
  acl: once(async () => {
    const { AclApi } = await import("@coffer/domain/api/AclApi")
    return HttpApiClient.group(AnyApi.add(AclApi), { ...options, group: "acl" })
  }),
  groups: once(async () => {
    const { GroupsApi } = await import("@coffer/domain/api/GroupsApi")
    return HttpApiClient.group(AnyApi.add(GroupsApi), { ...options, group: "groups" })
  }),
  serviceAccounts: once(async () => {
    const { ServiceAccountsApi } = await import("@coffer/domain/api/ServiceAccountsApi")
    return HttpApiClient.group(AnyApi.add(ServiceAccountsApi), { ...options, group: "serviceAccounts" })
  }),
  federations: once(async () => {
    const { FederationsApi } = await import("@coffer/domain/api/FederationsApi")
    return HttpApiClient.group(AnyApi.add(FederationsApi), { ...options, group: "federations" })
  }),
  useRules: once(async () => {
    const { UseRulesApi } = await import("@coffer/domain/api/UseRulesApi")
    return HttpApiClient.group(AnyApi.add(UseRulesApi), { ...options, group: "useRules" })
  }),
  use: once(async () => {
    const { UseApi } = await import("@coffer/domain/api/UseApi")
    return HttpApiClient.group(AnyApi.add(UseApi), { ...options, group: "use" })
  }),
  approvals: once(async () => {
    const { ApprovalsApi } = await import("@coffer/domain/api/ApprovalsApi")
    return HttpApiClient.group(AnyApi.add(ApprovalsApi), { ...options, group: "approvals" })
  }),
  protections: once(async () => {
    const { ProtectionsApi } = await import("@coffer/domain/api/ProtectionsApi")
    return HttpApiClient.group(AnyApi.add(ProtectionsApi), { ...options, group: "protections" })
  }),
  previews: once(async () => {
    const { PreviewsApi } = await import("@coffer/domain/api/PreviewsApi")
    return HttpApiClient.group(AnyApi.add(PreviewsApi), { ...options, group: "previews" })
  }),
  requests: once(async () => {
    const { RequestsApi } = await import("@coffer/domain/api/RequestsApi")
    return HttpApiClient.group(AnyApi.add(RequestsApi), { ...options, group: "requests" })
  }),
  webhooks: once(async () => {
    const { WebhooksApi } = await import("@coffer/domain/api/WebhooksApi")
    return HttpApiClient.group(AnyApi.add(WebhooksApi), { ...options, group: "webhooks" })
  }),
  users: once(async () => {
    const { UsersApi } = await import("@coffer/domain/api/UsersApi")
    return HttpApiClient.group(AnyApi.add(UsersApi), { ...options, group: "users" })
  }),
  audit: once(async () => {
    const { AuditApi } = await import("@coffer/domain/api/AuditApi")
    return HttpApiClient.group(AnyApi.add(AuditApi), { ...options, group: "audit" })
  }),
  backups: once(async () => {
    const { BackupsApi } = await import("@coffer/domain/api/BackupsApi")
    return HttpApiClient.group(AnyApi.add(BackupsApi), { ...options, group: "backups" })
  }),
  server: once(async () => {
    const { ServerApi } = await import("@coffer/domain/api/ServerApi")
    return HttpApiClient.group(AnyApi.add(ServerApi), { ...options, group: "server" })
  }),
  system: once(async () => {
    const { SystemApi } = await import("@coffer/domain/api/SystemApi")
    return HttpApiClient.group(AnyApi.add(SystemApi), { ...options, group: "system" })
  })
})
