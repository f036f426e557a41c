import { CurrentCaller } from "@coffer/domain/access/Actor"
import { anyApi } from "@coffer/domain/api/AnyApi"
import { Admission, ForDelegations, RecentLogin, Requires } from "@coffer/domain/api/Requirement"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { optional } from "@coffer/domain/base/Schemas"
import { Forbidden, Unauthorized } from "@coffer/domain/errors/Errors"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as Schema from "effect/Schema"

/** Authenticates an agent: a service account, or a delegation. */
export class McpAuthentication extends HttpApiMiddleware.Tag<McpAuthentication>()("@coffer/server/McpAuthentication", {
  provides: CurrentCaller,
  failure: Unauthorized,
  security: { bearer: HttpApiSecurity.bearer }
}) {}

/** The settings of the tool server, which hosts write into its address. They have the meaning of `SERVICE_MCP_…`. */
const Settings = Schema.Struct({
  org: optional(OrgName),
  project: optional(ProjectName),
  env: optional(EnvName),
  read_only: optional(Schema.String),
  reveal: optional(Schema.String),
  pin: optional(Schema.String),
  extra: optional(Schema.String),
  use: optional(Schema.String),
  tools: optional(Schema.String)
})
export type AddressSettings = typeof Settings.Type

class McpGroup extends HttpApiGroup.make("mcp")
  .add(
    HttpApiEndpoint.post("message", "/mcp")
      .setUrlParams(Settings)
      .setPayload(Schema.Unknown)
      .addSuccess(Schema.Void)
      .addError(Forbidden)
  )
  .annotateEndpoints(Requires, "credential")
  .annotateEndpoints(ForDelegations, "any")
  .annotateEndpoints(RecentLogin, "never")
  .middleware(Admission)
  .middleware(McpAuthentication) {}

/**
 * The tool server. It is a contract of its own, so that nothing of it is in the documents of Coffer's API: the protocol of tool
 * servers describes it.
 */
export class McpApi extends anyApi("coffer-mcp").add(McpGroup) {}
