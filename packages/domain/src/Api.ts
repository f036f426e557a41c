import { HttpApi, OpenApi } from "@effect/platform"
import { AclApi } from "./api/AclApi.js"
import { AuditApi } from "./api/AuditApi.js"
import { AuthApi } from "./api/AuthApi.js"
import { BackupsApi } from "./api/BackupsApi.js"
import { EnvironmentsApi } from "./api/EnvironmentsApi.js"
import { MembersApi } from "./api/MembersApi.js"
import { OrganizationsApi } from "./api/OrganizationsApi.js"
import { ProjectsApi } from "./api/ProjectsApi.js"
import { SecretsApi } from "./api/SecretsApi.js"
import { ServiceAccountsApi } from "./api/ServiceAccountsApi.js"
import { SystemApi } from "./api/SystemApi.js"
import {
  InternalError,
  MethodNotAllowed,
  NotFound,
  NotImplemented,
  PayloadTooLarge,
  UnsupportedMediaType,
  ValidationError
} from "./Errors.js"

/** The whole contract. Handlers, the typed client, the tools' schemas and the documents all come from it. */
export class Api extends HttpApi.make("coffer")
  .add(AuthApi)
  .add(OrganizationsApi)
  .add(MembersApi)
  .add(ProjectsApi)
  .add(EnvironmentsApi)
  .add(SecretsApi)
  .add(AclApi)
  .add(ServiceAccountsApi)
  .add(AuditApi)
  .add(BackupsApi)
  .add(SystemApi)
  .addError(ValidationError)
  .addError(NotFound)
  .addError(MethodNotAllowed)
  .addError(PayloadTooLarge)
  .addError(UnsupportedMediaType)
  .addError(InternalError)
  .addError(NotImplemented)
  .annotate(OpenApi.Title, "Coffer")
  .annotate(OpenApi.Version, "0.1.0")
  .annotate(
    OpenApi.Description,
    'Secrets, encrypted at rest, organized as organization / project / environment / key. Every error is an envelope: {"error":{"code","message"}}.'
  )
  .annotate(OpenApi.License, { name: "Apache-2.0" }) {}
