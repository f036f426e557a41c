import { CurrentCaller } from "@coffer/domain/access/Actor"
import { response } from "@coffer/domain/api/Response"
import { anyApi } from "@coffer/domain/api/AnyApi"
import {
  Admission,
  AnyContentType,
  BodyLimit,
  ForDelegations,
  RecentLogin,
  Requires
} from "@coffer/domain/api/Requirement"
import {
  DecryptionFailed,
  Forbidden,
  IssuerUnavailable,
  RateLimited,
  ReferenceRefused,
  Unauthorized
} from "@coffer/domain/errors/Errors"
import { EnvName } from "@coffer/domain/base/Names"
import { optional } from "@coffer/domain/base/Schemas"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as Schema from "effect/Schema"

/** Authenticates a service account by its key or by the token of one of its sessions, also if it is sent as a bearer token. */
export class VaultAuthentication extends HttpApiMiddleware.Tag<VaultAuthentication>()(
  "@coffer/server/VaultAuthentication",
  {
    provides: CurrentCaller,
    failure: Unauthorized,
    security: { token: HttpApiSecurity.apiKey({ in: "header", key: "X-Vault-Token" }) }
  }
) {}

const smallBody = 8 * 1024

/** The organization; without it, the account's own. */
const Namespace = Schema.Struct({ "x-vault-namespace": optional(Schema.String) })
export type Namespace = typeof Namespace.Type

/** Any text: Vault returns 404 for a name that cannot exist, as for one that does not. */
const ProjectPath = Schema.Struct({ project_name: Schema.String })
const EnvPath = Schema.Struct({ project_name: Schema.String, env_name: Schema.String })

const AuthBlock = Schema.Struct({
  client_token: Schema.Redacted(Schema.String),
  accessor: Schema.Literal(""),
  policies: Schema.Array(Schema.String),
  token_policies: Schema.Array(Schema.String),
  metadata: Schema.Record({ key: Schema.String, value: Schema.String }),
  lease_duration: Schema.Number,
  renewable: Schema.Boolean,
  entity_id: Schema.Literal(""),
  token_type: Schema.Literal("service"),
  orphan: Schema.Boolean,
  mfa_requirement: Schema.Null,
  num_uses: Schema.Number
})
export type AuthBlock = typeof AuthBlock.Type

/** The frame that Vault puts around its responses. */
const framed = <Data extends Schema.Schema.Any, Auth extends Schema.Schema.Any>(data: Data, auth: Auth) =>
  Schema.Struct({
    request_id: Schema.String,
    lease_id: Schema.Literal(""),
    renewable: Schema.Boolean,
    lease_duration: Schema.Number,
    data,
    wrap_info: Schema.Null,
    warnings: Schema.Null,
    auth
  })

const Login = response(framed(Schema.Null, AuthBlock), "A token")
const withData = <Data extends Schema.Schema.Any>(data: Data) => framed(data, Schema.Null)

/** A token as its holder sees it. */
const Token = Schema.Struct({
  accessor: Schema.Literal(""),
  creation_time: Schema.Number,
  creation_ttl: Schema.Number,
  display_name: Schema.String,
  entity_id: Schema.Literal(""),
  expire_time: Schema.NullOr(Schema.String),
  explicit_max_ttl: Schema.Number,
  id: Schema.Redacted(Schema.String),
  issue_time: Schema.String,
  meta: Schema.Record({ key: Schema.String, value: Schema.String }),
  num_uses: Schema.Number,
  orphan: Schema.Boolean,
  path: Schema.String,
  policies: Schema.Array(Schema.String),
  renewable: Schema.Boolean,
  ttl: Schema.Number,
  type: Schema.Literal("service")
})
export type Token = typeof Token.Type

const tokenLogin = Schema.Struct({ role: Schema.String, jwt: Schema.Redacted(Schema.String) })

class LoginGroup extends HttpApiGroup.make("vaultLogin")
  .add(
    HttpApiEndpoint.post("approle", "/v1/auth/approle/login")
      .setHeaders(Namespace)
      .setPayload(Schema.Struct({ role_id: Schema.String, secret_id: Schema.Redacted(Schema.String) }))
      .addSuccess(Login)
  )
  .add(
    HttpApiEndpoint.post("jwt", "/v1/auth/jwt/login")
      .setHeaders(Namespace)
      .setPayload(tokenLogin)
      .addSuccess(Login)
      .addError(RateLimited)
      .addError(IssuerUnavailable)
  )
  .add(
    HttpApiEndpoint.post("kubernetes", "/v1/auth/kubernetes/login")
      .setHeaders(Namespace)
      .setPayload(tokenLogin)
      .addSuccess(Login)
      .addError(RateLimited)
      .addError(IssuerUnavailable)
  )
  .annotateEndpoints(Requires, "nothing")
  .annotateEndpoints(RecentLogin, "never")
  .annotateEndpoints(BodyLimit, smallBody)
  .annotateEndpoints(AnyContentType, true)
  .middleware(Admission) {}

class TokenGroup extends HttpApiGroup.make("vaultToken")
  .add(
    HttpApiEndpoint.get("lookup", "/v1/auth/token/lookup-self")
      .addSuccess(response(withData(Token), "The caller's token"))
      .annotate(ForDelegations, "any")
  )
  .add(HttpApiEndpoint.post("renew", "/v1/auth/token/renew-self").addSuccess(Login))
  .add(
    HttpApiEndpoint.post("revoke", "/v1/auth/token/revoke-self").addSuccess(
      response(HttpApiSchema.NoContent, "The token has ended")
    )
  )
  .addError(Forbidden)
  .annotateEndpoints(Requires, "credential")
  .annotateEndpoints(RecentLogin, "never")
  .middleware(Admission)
  .middleware(VaultAuthentication) {}

const KeyValues = Schema.Record({ key: Schema.String, value: Schema.Redacted(Schema.String) })

const Version = Schema.Struct({
  created_time: Schema.String,
  deletion_time: Schema.Literal(""),
  destroyed: Schema.Literal(false)
})
export type Version = typeof Version.Type

/** The version is the environment's revision. */
const Metadata = Schema.Struct({ ...Version.fields, custom_metadata: Schema.Null, version: Schema.Number })
export type Metadata = typeof Metadata.Type

/** An environment without its values. Only the current version is served. */
const Description = Schema.Struct({
  cas_required: Schema.Literal(false),
  created_time: Schema.String,
  current_version: Schema.Number,
  custom_metadata: Schema.Null,
  delete_version_after: Schema.Literal("0s"),
  max_versions: Schema.Literal(0),
  oldest_version: Schema.Number,
  updated_time: Schema.String,
  versions: Schema.Record({ key: Schema.String, value: Version })
})
export type Description = typeof Description.Type

const flag = Schema.String

class KeyValueGroup extends HttpApiGroup.make("vaultKv")
  .add(
    HttpApiEndpoint.get("read", "/v1/:project_name/data/:env_name")
      .setPath(EnvPath)
      .setHeaders(Namespace)
      .setUrlParams(Schema.Struct({ version: optional(flag) }))
      .addSuccess(
        response(withData(Schema.Struct({ data: KeyValues, metadata: Metadata })), "The values of an environment")
      )
      .addError(DecryptionFailed)
      .addError(ReferenceRefused)
      .annotate(Requires, "secret.read")
      .annotate(ForDelegations, "any")
  )
  .add(
    HttpApiEndpoint.get("list", "/v1/:project_name/metadata")
      .setPath(ProjectPath)
      .setHeaders(Namespace)
      .setUrlParams(Schema.Struct({ list: optional(flag) }))
      .addSuccess(response(withData(Schema.Struct({ keys: Schema.Array(EnvName) })), "The environments of a project"))
      .annotate(Requires, "env.list")
      .annotate(ForDelegations, "any")
  )
  .add(
    HttpApiEndpoint.get("describe", "/v1/:project_name/metadata/:env_name")
      .setPath(EnvPath)
      .setHeaders(Namespace)
      .setUrlParams(Schema.Struct({ list: optional(flag) }))
      .addSuccess(response(withData(Description), "The version of an environment"))
      .annotate(Requires, "secret.list")
      .annotate(ForDelegations, "whole")
  )
  .add(
    HttpApiEndpoint.get("mount", "/v1/sys/internal/ui/mounts/:project_name")
      .setPath(ProjectPath)
      .setHeaders(Namespace)
      .addSuccess(response(withData(Schema.Unknown), "That the project is a mount of KV v2"))
      .annotate(Requires, "env.list")
      .annotate(ForDelegations, "any")
  )
  .add(
    HttpApiEndpoint.get("mountOf", "/v1/sys/internal/ui/mounts/:project_name/*")
      .setPath(ProjectPath)
      .setHeaders(Namespace)
      .addSuccess(response(withData(Schema.Unknown), "That the project is a mount of KV v2"))
      .annotate(Requires, "env.list")
      .annotate(ForDelegations, "any")
  )
  .addError(Forbidden)
  .middleware(Admission)
  .middleware(VaultAuthentication) {}

class StatusGroup extends HttpApiGroup.make("vaultStatus")
  .add(HttpApiEndpoint.get("health", "/v1/sys/health").addSuccess(response(Schema.Unknown, "The server is up")))
  .add(HttpApiEndpoint.get("leader", "/v1/sys/leader").addSuccess(response(Schema.Unknown, "There is no cluster")))
  .add(HttpApiEndpoint.get("seal", "/v1/sys/seal-status").addSuccess(response(Schema.Unknown, "Nothing is sealed")))
  .annotateEndpoints(Requires, "nothing")
  .middleware(Admission) {}

/**
 * The part of Vault's API that is served. It is a contract of its own, so that nothing of it is in the documents of Coffer's
 * API.
 */
export class VaultApi extends anyApi("coffer-vault")
  .add(LoginGroup)
  .add(TokenGroup)
  .add(KeyValueGroup)
  .add(StatusGroup) {}
