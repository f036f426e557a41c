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
/** How the clients of groups send their requests. */
export interface ClientOptions {
  readonly httpClient: HttpClient.HttpClient.With<ClientError | HttpClientError>
  readonly baseUrl: string
}

/** The groups that the console never calls. Its build leaves them out. */
type ProgramGroup = "exports" | "imports" | "scim" | "use"

/** The clients of all groups that the console calls. */
export const consoleClients = (options: ClientOptions): Omit<GroupClients, ProgramGroup> => ({
  auth: once(() =>
    import("@coffer/domain/api/AuthApi").then(({ AuthApi }) =>
      HttpApiClient.group(AnyApi.add(AuthApi), { ...options, group: "auth" })
    )
  ),
  targets: once(() =>
    import("@coffer/domain/api/TargetsApi").then(({ TargetsApi }) =>
      HttpApiClient.group(AnyApi.add(TargetsApi), { ...options, group: "targets" })
    )
  ),
  connections: once(() =>
    import("@coffer/domain/api/ConnectionsApi").then(({ ConnectionsApi }) =>
      HttpApiClient.group(AnyApi.add(ConnectionsApi), { ...options, group: "connections" })
    )
  ),
  leaseRoles: once(() =>
    import("@coffer/domain/api/LeaseRolesApi").then(({ LeaseRolesApi }) =>
      HttpApiClient.group(AnyApi.add(LeaseRolesApi), { ...options, group: "leaseRoles" })
    )
  ),
  leases: once(() =>
    import("@coffer/domain/api/LeasesApi").then(({ LeasesApi }) =>
      HttpApiClient.group(AnyApi.add(LeasesApi), { ...options, group: "leases" })
    )
  ),
  rotations: once(() =>
    import("@coffer/domain/api/RotationsApi").then(({ RotationsApi }) =>
      HttpApiClient.group(AnyApi.add(RotationsApi), { ...options, group: "rotations" })
    )
  ),
  passkeys: once(() =>
    import("@coffer/domain/api/PasskeysApi").then(({ PasskeysApi }) =>
      HttpApiClient.group(AnyApi.add(PasskeysApi), { ...options, group: "passkeys" })
    )
  ),
  delegations: once(() =>
    import("@coffer/domain/api/DelegationsApi").then(({ DelegationsApi }) =>
      HttpApiClient.group(AnyApi.add(DelegationsApi), { ...options, group: "delegations" })
    )
  ),
  consents: once(() =>
    import("@coffer/domain/api/ConsentsApi").then(({ ConsentsApi }) =>
      HttpApiClient.group(AnyApi.add(ConsentsApi), { ...options, group: "consents" })
    )
  ),
  organizations: once(() =>
    import("@coffer/domain/api/OrganizationsApi").then(({ OrganizationsApi }) =>
      HttpApiClient.group(AnyApi.add(OrganizationsApi), { ...options, group: "organizations" })
    )
  ),
  members: once(() =>
    import("@coffer/domain/api/MembersApi").then(({ MembersApi }) =>
      HttpApiClient.group(AnyApi.add(MembersApi), { ...options, group: "members" })
    )
  ),
  projects: once(() =>
    import("@coffer/domain/api/ProjectsApi").then(({ ProjectsApi }) =>
      HttpApiClient.group(AnyApi.add(ProjectsApi), { ...options, group: "projects" })
    )
  ),
  environments: once(() =>
    import("@coffer/domain/api/EnvironmentsApi").then(({ EnvironmentsApi }) =>
      HttpApiClient.group(AnyApi.add(EnvironmentsApi), { ...options, group: "environments" })
    )
  ),
  trash: once(() =>
    import("@coffer/domain/api/TrashApi").then(({ TrashApi }) =>
      HttpApiClient.group(AnyApi.add(TrashApi), { ...options, group: "trash" })
    )
  ),
  previews: once(() =>
    import("@coffer/domain/api/PreviewsApi").then(({ PreviewsApi }) =>
      HttpApiClient.group(AnyApi.add(PreviewsApi), { ...options, group: "previews" })
    )
  ),
  declared: once(() =>
    import("@coffer/domain/api/DeclaredApi").then(({ DeclaredApi }) =>
      HttpApiClient.group(AnyApi.add(DeclaredApi), { ...options, group: "declared" })
    )
  ),
  secrets: once(() =>
    import("@coffer/domain/api/SecretsApi").then(({ SecretsApi }) =>
      HttpApiClient.group(AnyApi.add(SecretsApi), { ...options, group: "secrets" })
    )
  ),
  dues: once(() =>
    import("@coffer/domain/api/DuesApi").then(({ DuesApi }) =>
      HttpApiClient.group(AnyApi.add(DuesApi), { ...options, group: "dues" })
    )
  ),
  keys: once(() =>
    import("@coffer/domain/api/KeysApi").then(({ KeysApi }) =>
      HttpApiClient.group(AnyApi.add(KeysApi), { ...options, group: "keys" })
    )
  ),
  history: once(() =>
    import("@coffer/domain/api/HistoryApi").then(({ HistoryApi }) =>
      HttpApiClient.group(AnyApi.add(HistoryApi), { ...options, group: "history" })
    )
  ),
  overview: once(() =>
    import("@coffer/domain/api/OverviewApi").then(({ OverviewApi }) =>
      HttpApiClient.group(AnyApi.add(OverviewApi), { ...options, group: "overview" })
    )
  ),
  acl: once(() =>
    import("@coffer/domain/api/AclApi").then(({ AclApi }) =>
      HttpApiClient.group(AnyApi.add(AclApi), { ...options, group: "acl" })
    )
  ),
  groups: once(() =>
    import("@coffer/domain/api/GroupsApi").then(({ GroupsApi }) =>
      HttpApiClient.group(AnyApi.add(GroupsApi), { ...options, group: "groups" })
    )
  ),
  serviceAccounts: once(() =>
    import("@coffer/domain/api/ServiceAccountsApi").then(({ ServiceAccountsApi }) =>
      HttpApiClient.group(AnyApi.add(ServiceAccountsApi), { ...options, group: "serviceAccounts" })
    )
  ),
  federations: once(() =>
    import("@coffer/domain/api/FederationsApi").then(({ FederationsApi }) =>
      HttpApiClient.group(AnyApi.add(FederationsApi), { ...options, group: "federations" })
    )
  ),
  useRules: once(() =>
    import("@coffer/domain/api/UseRulesApi").then(({ UseRulesApi }) =>
      HttpApiClient.group(AnyApi.add(UseRulesApi), { ...options, group: "useRules" })
    )
  ),
  approvals: once(() =>
    import("@coffer/domain/api/ApprovalsApi").then(({ ApprovalsApi }) =>
      HttpApiClient.group(AnyApi.add(ApprovalsApi), { ...options, group: "approvals" })
    )
  ),
  protections: once(() =>
    import("@coffer/domain/api/ProtectionsApi").then(({ ProtectionsApi }) =>
      HttpApiClient.group(AnyApi.add(ProtectionsApi), { ...options, group: "protections" })
    )
  ),
  requests: once(() =>
    import("@coffer/domain/api/RequestsApi").then(({ RequestsApi }) =>
      HttpApiClient.group(AnyApi.add(RequestsApi), { ...options, group: "requests" })
    )
  ),
  webhooks: once(() =>
    import("@coffer/domain/api/WebhooksApi").then(({ WebhooksApi }) =>
      HttpApiClient.group(AnyApi.add(WebhooksApi), { ...options, group: "webhooks" })
    )
  ),
  users: once(() =>
    import("@coffer/domain/api/UsersApi").then(({ UsersApi }) =>
      HttpApiClient.group(AnyApi.add(UsersApi), { ...options, group: "users" })
    )
  ),
  audit: once(() =>
    import("@coffer/domain/api/AuditApi").then(({ AuditApi }) =>
      HttpApiClient.group(AnyApi.add(AuditApi), { ...options, group: "audit" })
    )
  ),
  backups: once(() =>
    import("@coffer/domain/api/BackupsApi").then(({ BackupsApi }) =>
      HttpApiClient.group(AnyApi.add(BackupsApi), { ...options, group: "backups" })
    )
  ),
  server: once(() =>
    import("@coffer/domain/api/ServerApi").then(({ ServerApi }) =>
      HttpApiClient.group(AnyApi.add(ServerApi), { ...options, group: "server" })
    )
  ),
  system: once(() =>
    import("@coffer/domain/api/SystemApi").then(({ SystemApi }) =>
      HttpApiClient.group(AnyApi.add(SystemApi), { ...options, group: "system" })
    )
  )
})

export const groupClients = (options: ClientOptions): GroupClients => ({
  ...consoleClients(options),
  scim: once(() =>
    import("@coffer/domain/api/ScimApi").then(({ ScimApi }) =>
      HttpApiClient.group(AnyApi.add(ScimApi), { ...options, group: "scim" })
    )
  ),
  exports: once(() =>
    import("@coffer/domain/api/ExportsApi").then(({ ExportsApi }) =>
      HttpApiClient.group(AnyApi.add(ExportsApi), { ...options, group: "exports" })
    )
  ),
  imports: once(() =>
    import("@coffer/domain/api/ImportsApi").then(({ ImportsApi }) =>
      HttpApiClient.group(AnyApi.add(ImportsApi), { ...options, group: "imports" })
    )
  ),
  use: once(() =>
    import("@coffer/domain/api/UseApi").then(({ UseApi }) =>
      HttpApiClient.group(AnyApi.add(UseApi), { ...options, group: "use" })
    )
  )
})
