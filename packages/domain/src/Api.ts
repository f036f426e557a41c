import * as OpenApi from "@effect/platform/OpenApi"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { AclApi } from "./api/AclApi.js"
import { AnyApi } from "./api/AnyApi.js"
import { ApprovalsApi } from "./api/ApprovalsApi.js"
import { AuditApi } from "./api/AuditApi.js"
import { AuthApi } from "./api/AuthApi.js"
import { BackupsApi } from "./api/BackupsApi.js"
import { ConsentsApi } from "./api/ConsentsApi.js"
import { ConnectionsApi } from "./api/ConnectionsApi.js"
import { DeclaredApi } from "./api/DeclaredApi.js"
import { DelegationsApi } from "./api/DelegationsApi.js"
import { DuesApi } from "./api/DuesApi.js"
import { EnvironmentsApi } from "./api/EnvironmentsApi.js"
import { ExportsApi } from "./api/ExportsApi.js"
import { FederationsApi } from "./api/FederationsApi.js"
import { GroupsApi } from "./api/GroupsApi.js"
import { HistoryApi } from "./api/HistoryApi.js"
import { ImportsApi } from "./api/ImportsApi.js"
import { KeysApi } from "./api/KeysApi.js"
import { MembersApi } from "./api/MembersApi.js"
import { OrganizationsApi } from "./api/OrganizationsApi.js"
import { OverviewApi } from "./api/OverviewApi.js"
import { PasskeysApi } from "./api/PasskeysApi.js"
import { PreviewsApi } from "./api/PreviewsApi.js"
import { ProjectsApi } from "./api/ProjectsApi.js"
import { LeaseRolesApi } from "./api/LeaseRolesApi.js"
import { LeasesApi } from "./api/LeasesApi.js"
import { RotationsApi } from "./api/RotationsApi.js"
import { ScimApi } from "./api/ScimApi.js"
import { SecretsApi } from "./api/SecretsApi.js"
import { ProtectionsApi } from "./api/ProtectionsApi.js"
import { RequestsApi } from "./api/RequestsApi.js"
import { ServerApi } from "./api/ServerApi.js"
import { ServiceAccountsApi } from "./api/ServiceAccountsApi.js"
import { SystemApi } from "./api/SystemApi.js"
import { TargetsApi } from "./api/TargetsApi.js"
import { TrashApi } from "./api/TrashApi.js"
import { UseApi } from "./api/UseApi.js"
import { UseRulesApi } from "./api/UseRulesApi.js"
import { UsersApi } from "./api/UsersApi.js"
import { WebhooksApi } from "./api/WebhooksApi.js"
const toolkitSchemas = ["HttpApiDecodeError", "Issue", "PropertyKey"]

const isToolkitError = (schema: unknown): boolean =>
  Predicate.hasProperty(schema, "$ref") && schema.$ref === "#/components/schemas/HttpApiDecodeError"

/**
 * Removes the toolkit's own decode error, which it documents as a 400 of every endpoint. The server never sends that
 * error: it returns the envelope.
 */
const withoutToolkitError = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(withoutToolkitError)
  if (!Predicate.isRecord(node)) return node
  if (Array.isArray(node.anyOf) && node.anyOf.some(isToolkitError)) {
    const others: ReadonlyArray<unknown> = node.anyOf.filter((schema) => !isToolkitError(schema))
    return others.length === 1 ? others[0] : { anyOf: others }
  }
  const fields = Object.entries(node).filter(([name]) => !toolkitSchemas.includes(name))
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutToolkitError(field)]))
}

/** The API contract. Handlers, the typed client, MCP tool schemas and the documentation are derived from it. */
export class Api extends AnyApi.add(AuthApi)
  .add(PasskeysApi)
  .add(DelegationsApi)
  .add(ConsentsApi)
  .add(OrganizationsApi)
  .add(ExportsApi)
  .add(ImportsApi)
  .add(MembersApi)
  .add(ProjectsApi)
  .add(EnvironmentsApi)
  .add(DeclaredApi)
  .add(SecretsApi)
  .add(DuesApi)
  .add(KeysApi)
  .add(HistoryApi)
  .add(OverviewApi)
  .add(AclApi)
  .add(GroupsApi)
  .add(ScimApi)
  .add(ServiceAccountsApi)
  .add(FederationsApi)
  .add(UseRulesApi)
  .add(TargetsApi)
  .add(UseApi)
  .add(ConnectionsApi)
  .add(RotationsApi)
  .add(LeaseRolesApi)
  .add(LeasesApi)
  .add(ApprovalsApi)
  .add(ProtectionsApi)
  .add(PreviewsApi)
  .add(RequestsApi)
  .add(TrashApi)
  .add(WebhooksApi)
  .add(UsersApi)
  .add(AuditApi)
  .add(BackupsApi)
  .add(ServerApi)
  .add(SystemApi)
  .annotate(OpenApi.Title, "Coffer")
  .annotate(OpenApi.Version, "0.3.0")
  .annotate(
    OpenApi.Description,
    'Secrets, encrypted at rest, organized as organization / project / environment / key. Every error is an envelope: {"error":{"code","message"}}.'
  )
  .annotate(OpenApi.License, { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" })
  .annotate(OpenApi.Servers, [{ url: "/", description: "The server that this document comes from" }])
  .annotate(OpenApi.Transform, (document) => Record.map(document, withoutToolkitError)) {}
