import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import {
  DelegablePermission,
  DelegatedEnvironments,
  DelegatedKeys,
  Delegation,
  DelegationName,
  DelegationSeconds,
  maxDelegatedEnvironments,
  maxDelegations,
  NewDelegation
} from "../directory/Delegation.js"
import { LimitExceeded } from "../errors/Errors.js"
import { DelegationId } from "../base/Ids.js"
import { EnvName, OrgName, ProjectName, SecretKey } from "../base/Names.js"
import { body, field, list, optional } from "../base/Schemas.js"
import { response } from "./Response.js"
import { Admission, RecentLogin, recentLogin, requires } from "./Requirement.js"

const delegations = "/api/auth/delegations"

export class DelegationsApi extends HttpApiGroup.make("delegations")
  .add(
    HttpApiEndpoint.post("create", delegations)
      .setPayload(
        body({
          name: field(DelegationName, "a name, such as that of the agent"),
          org: field(OrgName, "the organization's name"),
          project: field(ProjectName, "the project's name"),
          env: field(EnvName, "the environment's name", EnvName.make("dev")),
          also: DelegatedEnvironments,
          permission: field(DelegablePermission, "the highest permission that it gives"),
          keys: optional(DelegatedKeys, "the only keys that it may name; default: all keys", [
            SecretKey.make("DATABASE_URL")
          ]),
          reveal: optional(
            Schema.Boolean,
            "whether it may read secret values; default: true. Always false with `permission: use`",
            true
          ),
          expires_in: DelegationSeconds
        })
      )
      .addSuccess(response(NewDelegation, "The new delegation, with its token"), { status: 201 })
      .pipe(requires("person"), recentLogin("always"))
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Delegate a part of one's rights to an agent or a script")
      .annotate(
        OpenApi.Description,
        `For people, who need the permission themselves, in each of up to ${maxDelegatedEnvironments} environments. The token is returned only once. It gives what the person may do at that moment, within the scope: it ends with the person's own right. It cannot be renewed, and cannot be used for accounts, rules, delegations, approvals or the audit log. A person has at most ${maxDelegations} at a time.`
      )
  )
  .add(
    HttpApiEndpoint.get("list", delegations)
      .addSuccess(response(list(Delegation), "The delegations"))
      .pipe(requires("person"))
      .annotate(OpenApi.Summary, "List the caller's own delegations")
      .annotate(OpenApi.Description, "Those that have not ended, newest first, without their tokens.")
  )
  .add(
    HttpApiEndpoint.del("revoke", `${delegations}/:delegation_id`)
      .setPath(Schema.Struct({ delegation_id: DelegationId }))
      .addSuccess(response(HttpApiSchema.NoContent, "The delegation has ended"))
      .pipe(requires("person"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Revoke one of the caller's delegations")
      .annotate(OpenApi.Description, "Its next request is refused. NOT_FOUND for another person's delegation.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Delegations")
  .annotate(OpenApi.Description, "Parts of a person's rights, for agents and scripts") {}
