import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { AuditCursor, continuesItsList, LogCursor } from "../AuditCursor.js"
import { AuditPage, AuditVerification } from "../AuditEntry.js"
import { AuditActor, AuditMoment, AuditWord, ChainLink, SeqParameter } from "../AuditFilters.js"
import { Forbidden } from "../Errors.js"
import { OrgId } from "../Ids.js"
import { withMessage } from "../Message.js"
import { EnvName, ProjectName, SecretKey } from "../Names.js"
import { LimitParameter, optional } from "../Schemas.js"
import { OrgPath, paths } from "./Paths.js"
import { Admission, Requires } from "./Requirement.js"

const filters = {
  action: optional(AuditWord),
  actor: optional(AuditActor),
  actor_id: optional(AuditWord),
  resource_type: optional(AuditWord),
  project: optional(ProjectName),
  env: optional(EnvName),
  key: optional(SecretKey),
  since: optional(AuditMoment),
  until: optional(AuditMoment),
  limit: optional(LimitParameter)
}

const headMessage = withMessage("goes together with chain, and the other way round")

/** Checks that `seq` and `chain` are given together: only both identify a recorded head. */
const namesAHead = (query: { readonly seq?: unknown; readonly chain?: unknown }): true | Schema.FilterIssue =>
  (query.seq === undefined) === (query.chain === undefined) ||
  ({ path: ["seq"], message: headMessage.message().message } satisfies Schema.FilterIssue)

const verification = {
  from_seq: optional(SeqParameter),
  seq: optional(SeqParameter),
  chain: optional(ChainLink)
}

const logs = `${paths.org}/audit-logs` as const

export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", logs)
      .setPath(OrgPath)
      .setUrlParams(Schema.Struct({ ...filters, after: optional(LogCursor) }))
      .addSuccess(AuditPage)
      .addError(Forbidden)
      .annotate(Requires, "audit.read")
      .annotate(OpenApi.Summary, "Read an organization's audit log, newest first")
  )
  .add(
    HttpApiEndpoint.get("verify", `${logs}/verify`)
      .setPath(OrgPath)
      .setUrlParams(Schema.Struct(verification).pipe(Schema.filter(namesAHead)))
      .addSuccess(AuditVerification)
      .addError(Forbidden)
      .annotate(Requires, "audit.verify")
      .annotate(OpenApi.Summary, "Check that no entry of an organization's log was changed, removed or inserted")
  )
  .add(
    HttpApiEndpoint.get("listAll", "/api/audit-logs")
      .setUrlParams(
        Schema.Struct({ ...filters, after: optional(AuditCursor), org_id: optional(OrgId) }).pipe(
          Schema.filter(continuesItsList)
        )
      )
      .addSuccess(AuditPage)
      .addError(Forbidden)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Read all audit logs, including those of removed organizations")
  )
  .add(
    HttpApiEndpoint.get("verifyAll", "/api/audit-logs/verify")
      .setUrlParams(Schema.Struct({ ...verification, org_id: optional(OrgId) }).pipe(Schema.filter(namesAHead)))
      .addSuccess(AuditVerification)
      .addError(Forbidden)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Check the log of entries without an organization, or that of one organization")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Audit log")
  .annotate(OpenApi.Description, "Who did what, when and from where. The log is append-only") {}
