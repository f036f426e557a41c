import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { AuditActivity, SpansParameter } from "../audit/AuditActivity.js"
import { AuditCursor, continuesItsList, LogCursor } from "../audit/AuditCursor.js"
import { AuditPage, AuditVerification } from "../audit/AuditEntry.js"
import {
  AuditAction,
  AuditActor,
  AuditActorId,
  AuditEnv,
  AuditKey,
  AuditOrgId,
  AuditProject,
  AuditResourceType,
  AuditSince,
  AuditUntil,
  ChainLink,
  FromSeqParameter,
  SeqParameter
} from "../audit/AuditFilters.js"
import { withMessage } from "../base/Message.js"
import { LimitParameter, optional } from "../base/Schemas.js"
import { response } from "./Response.js"
import { OrgPath, paths } from "./Paths.js"
import { Admission, Compressible, Polled, requires } from "./Requirement.js"

const matching = {
  action: optional(AuditAction),
  actor: optional(AuditActor),
  actor_id: optional(AuditActorId),
  resource_type: optional(AuditResourceType),
  project: optional(AuditProject),
  env: optional(AuditEnv),
  key: optional(AuditKey),
  since: optional(AuditSince),
  until: optional(AuditUntil)
}

const filters = { ...matching, limit: optional(LimitParameter) }

const headMessage = withMessage("goes together with chain, and the other way round")

/** Checks that `seq` and `chain` are given together: only both identify a recorded head. */
const namesAHead = (query: { readonly seq?: unknown; readonly chain?: unknown }): true | Schema.FilterIssue =>
  (query.seq === undefined) === (query.chain === undefined) ||
  ({ path: ["seq"], message: headMessage.message().message } satisfies Schema.FilterIssue)

const verification = {
  from_seq: optional(FromSeqParameter),
  seq: optional(SeqParameter),
  chain: optional(ChainLink)
}

const logs = `${paths.org}/audit-logs` as const

export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", logs)
      .setPath(OrgPath)
      .setUrlParams(Schema.Struct({ ...filters, after: optional(LogCursor) }))
      .addSuccess(response(AuditPage, "A page of entries"))
      .pipe(requires("audit.read"))
      .annotate(Compressible, true)
      .annotate(Polled, true)
      .annotate(OpenApi.Summary, "Read an organization's audit log, newest first")
      .annotate(
        OpenApi.Description,
        "For admins and owners. `project`, `env` and `key` match the names at the time of the entry. A read of a whole environment matches each key that it returned. Entries from versions before these filters have only a key. `since` and `until` take a date or a time in UTC. An unknown action, resource type or actor is VALIDATION_ERROR, which suggests the nearest match. An actor is known if it ever was a member or service account of the organization, or has an entry. `total` counts the matching entries; with `since` or `until`, counting stops at 10,000, and `at_least` is then true. Send `next_cursor` as `after` to get the next page. A page of very long entries may have fewer than `limit`."
      )
  )
  .add(
    HttpApiEndpoint.get("verify", `${logs}/verify`)
      .setPath(OrgPath)
      .setUrlParams(Schema.Struct(verification).pipe(Schema.filter(namesAHead)))
      .addSuccess(response(AuditVerification, "The result of the verification"))
      .pipe(requires("audit.verify"))
      .annotate(OpenApi.Summary, "Check that no entry of an organization's log was changed, removed or inserted")
      .annotate(
        OpenApi.Description,
        "With `seq` and `chain`, also checks a head that you recorded elsewhere. Without a recorded head, removal of the newest entries cannot be detected. A log is verified once at a time: further requests wait."
      )
  )
  .add(
    HttpApiEndpoint.get("activity", `${logs}/activity`)
      .setPath(OrgPath)
      .setUrlParams(Schema.Struct({ ...matching, spans: optional(SpansParameter) }))
      .addSuccess(response(AuditActivity, "The activity"))
      .pipe(requires("audit.read"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "Count an organization's entries over time, by action and by actor")
      .annotate(
        OpenApi.Description,
        "For admins and owners. Divides the time from `since` (or the first entry) to `until` (or now) into at most `spans` spans of a round length. Spans begin at round times in UTC, so that the first and the last may reach beyond `since` and `until`. The filters are those of the log. Up to 100,000 entries are counted, the newest; then `complete` is false."
      )
  )
  .add(
    HttpApiEndpoint.get("listAll", "/api/audit-logs")
      .setUrlParams(
        Schema.Struct({ ...filters, after: optional(AuditCursor), org_id: optional(AuditOrgId) }).pipe(
          Schema.filter(continuesItsList)
        )
      )
      .addSuccess(response(AuditPage, "A page of entries"))
      .pipe(requires("superadmin"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "Read all audit logs, including those of removed organizations")
      .annotate(
        OpenApi.Description,
        "For superadmins. Contains logins, failed logins, lockouts, backups and the entries of all organizations, or only those of `org_id`. The filters are those of an organization's log. The pages hold each entry that was committed before the first page was read exactly once. On PostgreSQL, entries of different organizations that are written at the same time may appear in either order. A new entry may appear below others: to follow all logs, use the audit stream, or remember the last `seq` of each `org_id`."
      )
  )
  .add(
    HttpApiEndpoint.get("verifyAll", "/api/audit-logs/verify")
      .setUrlParams(Schema.Struct({ ...verification, org_id: optional(AuditOrgId) }).pipe(Schema.filter(namesAHead)))
      .addSuccess(response(AuditVerification, "The result of the verification"))
      .pipe(requires("superadmin"))
      .annotate(OpenApi.Summary, "Check the log of entries without an organization, or that of one organization")
      .annotate(
        OpenApi.Description,
        "For superadmins. Verifies the chain of the entries without an organization, or that of `org_id`."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Audit log")
  .annotate(OpenApi.Description, "Who did what, when and from where. The log is append-only") {}
