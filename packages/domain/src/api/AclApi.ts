import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AclExplanation, AclRule, namesItsSubject, Permission, SubjectType } from "../AclRule.js"
import { Authentication } from "../Actor.js"
import { Forbidden, LimitExceeded } from "../Errors.js"
import { RuleId, ServiceAccountId } from "../Ids.js"
import { Email, EnvName, ProjectName } from "../Names.js"
import { Pattern } from "../Pattern.js"
import { body, list, optional } from "../Schemas.js"
import { orgPath, OrgPath, paths } from "./Paths.js"
import { Admission, Requires } from "./Requirement.js"

const subject = {
  subject_type: SubjectType,
  email: optional(Email),
  subject_id: optional(ServiceAccountId)
}

const granted = { project_pattern: Pattern, env_pattern: Pattern, permission: Permission }

export class AclApi extends HttpApiGroup.make("acl")
  .add(
    HttpApiEndpoint.post("grant", `${paths.org}/acl`)
      .setPath(OrgPath)
      .setPayload(
        Schema.Union(
          body({ subject_type: Schema.Literal("user"), email: Email, ...granted }),
          body({ subject_type: Schema.Literal("service_account"), subject_id: ServiceAccountId, ...granted })
        )
      )
      .addSuccess(AclRule, { status: 201 })
      .addSuccess(AclRule, { status: 200 })
      .addError(Forbidden)
      .addError(LimitExceeded)
      .annotate(Requires, "acl.grant")
      .annotate(OpenApi.Summary, "Grant a permission by pattern")
      .annotate(
        OpenApi.Description,
        "`email` names a user, `subject_id` a service account. Granting again to the same subject and patterns changes the permission (200)."
      )
  )
  .add(
    HttpApiEndpoint.get("list", `${paths.org}/acl`)
      .setPath(OrgPath)
      .addSuccess(list(AclRule))
      .addError(Forbidden)
      .annotate(Requires, "acl.list")
      .annotate(OpenApi.Summary, "List access rules")
  )
  .add(
    HttpApiEndpoint.get("explain", `${paths.org}/acl/explain`)
      .setPath(OrgPath)
      .setUrlParams(
        Schema.Struct({ ...subject, project: ProjectName, env: EnvName }).pipe(Schema.filter(namesItsSubject))
      )
      .addSuccess(AclExplanation)
      .addError(Forbidden)
      .annotate(Requires, "acl.explain")
      .annotate(OpenApi.Summary, "Show what a subject may do in an environment, and why")
  )
  .add(
    HttpApiEndpoint.del("revoke", `${paths.org}/acl/:rule_id`)
      .setPath(Schema.Struct({ ...orgPath, rule_id: RuleId }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Forbidden)
      .annotate(Requires, "acl.revoke")
      .annotate(OpenApi.Summary, "Revoke an access rule")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Access rules")
  .annotate(
    OpenApi.Description,
    "Permissions of people and service accounts, by patterns of names. Without a rule, developers, members and service accounts have access to no secret"
  ) {}
