import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { AccessCursor, AccessPage, AccessSubject } from "../access/AccessTable.js"
import { AccessReview, HolderCursor, HolderPage, ReviewNote } from "../access/AccessHolder.js"
import { AclExplanation, AclRule, maxRuleDays, namesItsSubject, Permission, SubjectType } from "../access/AclRule.js"
import { Authentication } from "../access/Actor.js"
import { Expiry } from "../secrets/Due.js"
import { KeyPattern } from "../secrets/KeyPatterns.js"
import { grace } from "../base/Examples.js"
import { LimitExceeded } from "../errors/Errors.js"
import { RuleId, ServiceAccountId } from "../base/Ids.js"
import { Email, EnvName, GroupName, ProjectName, SecretKey } from "../base/Names.js"
import { Pattern } from "../base/Pattern.js"
import { body, field, LimitParameter, list, optional } from "../base/Schemas.js"
import { response } from "./Response.js"
import { EnvPath, orgPath, OrgPath, paths } from "./Paths.js"
import {
  Admission,
  Compressible,
  ForDelegations,
  RecentLogin,
  recentLogin,
  requires,
  ValueFlow
} from "./Requirement.js"

const subject = {
  subject_type: field(SubjectType, "the kind of subject to explain"),
  email: optional(Email, "the user to explain", grace),
  subject_id: optional(ServiceAccountId, "the service account to explain")
}

const granted = {
  project_pattern: field(Pattern, "a name or pattern of projects", Pattern.to.make("webshop")),
  env_pattern: field(Pattern, "a name or pattern of environments", Pattern.to.make("{dev,staging}")),
  permission: field(Permission, "the permission; a higher one includes the lower ones", "write"),
  key_pattern: optional(
    KeyPattern,
    "the keys that the rule is for, where `*` is any text; absent: all. `admin` is given for all keys",
    "API_*"
  ),
  denies: optional(
    Schema.Boolean,
    "true: the rule takes the permission and those above it from what other rules give; no rule takes from a role",
    false
  ),
  expires_at: optional(
    Expiry,
    `when the rule ends, at most ${maxRuleDays.toLocaleString("en")} days ahead: a date, or a date and time in UTC; absent: it lasts`,
    "2027-01-31T08:00:00Z"
  )
}

const kind = "the kind of subject"

export class AclApi extends HttpApiGroup.make("acl")
  .add(
    HttpApiEndpoint.post("grant", `${paths.org}/acl`)
      .setPath(OrgPath)
      .setPayload(
        Schema.Union(
          body({
            subject_type: field(Schema.Literal("user"), kind),
            email: field(Email, "an e-mail address; stored trimmed and in lowercase", grace),
            ...granted
          }),
          body({
            subject_type: field(Schema.Literal("service_account"), kind),
            subject_id: field(ServiceAccountId, "the id of the user or service account"),
            ...granted
          }),
          body({
            subject_type: field(Schema.Literal("group"), kind),
            group: field(GroupName, "the group's name"),
            ...granted
          })
        )
      )
      .addSuccess(response(AclRule, "The new rule"), { status: 201 })
      .addSuccess(response(AclRule, "The existing rule, with its new permission and end"), { status: 200 })
      .pipe(requires("acl.grant"), recentLogin("always"))
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Grant a permission by pattern")
      .annotate(
        OpenApi.Description,
        "`email` names a user, `subject_id` a service account, `group` a group. Granting again to the same subject and patterns changes the permission and the end (200): without `expires_at`, the rule lasts. A rule that has ended gives nothing. With `denies`, the rule takes: `use` takes everything, `read` leaves `use`. Rules that deny win over all rules that give, also over those of groups, and never limit owners and admins."
      )
  )
  .add(
    HttpApiEndpoint.get("list", `${paths.org}/acl`)
      .setPath(OrgPath)
      .addSuccess(response(list(AclRule), "The rules"))
      .pipe(requires("acl.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List access rules")
      .annotate(OpenApi.Description, "For admins and owners.")
  )
  .add(
    HttpApiEndpoint.get("explain", `${paths.org}/acl/explain`)
      .setPath(OrgPath)
      .setUrlParams(
        Schema.Struct({
          ...subject,
          project: ProjectName,
          env: EnvName,
          key: optional(SecretKey, "the secret to explain; default: all of the environment")
        }).pipe(Schema.filter(namesItsSubject))
      )
      .addSuccess(response(AclExplanation, "The permissions and the reasons for them", { allowed: ["read"] }))
      .pipe(requires("acl.explain"))
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "Show what a subject may do in an environment, and why")
      .annotate(
        OpenApi.Description,
        "For admins and owners; everyone may ask about themselves. `email` names a user, `subject_id` a service account."
      )
  )
  .add(
    HttpApiEndpoint.get("access", `${paths.org}/access`)
      .setPath(OrgPath)
      .setUrlParams(
        Schema.Struct({
          subject: optional(AccessSubject),
          limit: optional(LimitParameter),
          after: optional(AccessCursor)
        })
      )
      .addSuccess(response(AccessPage, "A page of the subject's permissions"))
      .pipe(requires("acl.explain"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "Show what a subject may do in each environment, and why")
      .annotate(
        OpenApi.Description,
        "For admins and owners; everyone may ask about themselves. All environments of the organization, by project and name, each with the subject's highest permission and the role or rule that gives it. Send `next_cursor` as `after` to get the next page."
      )
  )
  .add(
    HttpApiEndpoint.get("who", `${paths.env}/access`)
      .setPath(EnvPath)
      .setUrlParams(
        Schema.Struct({
          permission: optional(Permission, "the permission to look for; default: read", "write"),
          key: optional(SecretKey, "the secret to look for; default: any of the environment"),
          limit: optional(LimitParameter),
          after: optional(HolderCursor)
        })
      )
      .addSuccess(response(HolderPage, "A page of those who have the permission"))
      .pipe(requires("access.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "Show who has a permission in an environment, why, and when they last used it")
      .annotate(
        OpenApi.Description,
        "For admins and owners. Groups first, then service accounts and people, each in the order of ids; the delegations of a person are with that person. `because` is the role or rule that gives the permission for longest. `last_used_at` is the last entry of the audit log in this environment, with its present names, that needs the permission or a higher one; with `key`, the last one about that secret. A page may be short: send `next_cursor` as `after` until it is null."
      )
  )
  .add(
    HttpApiEndpoint.post("review", `${paths.env}/access/reviews`)
      .setPath(EnvPath)
      .setPayload(
        body({
          permission: optional(Permission, "the permission whose holders were reviewed; default: read", "read"),
          note: optional(
            ReviewNote,
            "what the audit log says of the review, on one line",
            "quarterly review, nothing to change"
          )
        })
      )
      .addSuccess(response(AccessReview, "What the audit log records"), { status: 201 })
      .pipe(requires("access.review"))
      .annotate(RecentLogin, "never")
      .annotate(ValueFlow, "none")
      .annotate(OpenApi.Summary, "Record that you reviewed who has a permission in an environment")
      .annotate(
        OpenApi.Description,
        "For admins and owners. Makes the entry `acl.review` with how many had the permission at this moment, and changes no right."
      )
  )
  .add(
    HttpApiEndpoint.del("revoke", `${paths.org}/acl/:rule_id`)
      .setPath(Schema.Struct({ ...orgPath, rule_id: RuleId }))
      .addSuccess(response(HttpApiSchema.NoContent, "The rule is revoked"))
      .pipe(requires("acl.revoke"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Revoke an access rule")
      .annotate(OpenApi.Description, "Takes effect for every request that starts after the response.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Access rules")
  .annotate(
    OpenApi.Description,
    "Permissions of people, groups and service accounts, by patterns of names. Without a rule, developers, members and service accounts have access to no secret"
  ) {}
