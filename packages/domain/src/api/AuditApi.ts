import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { AuditCursor, continuesItsList, LogCursor } from "../AuditCursor.js"
import { AuditPage, AuditVerification } from "../AuditEntry.js"
import { Forbidden } from "../Errors.js"
import { OrgId } from "../Ids.js"
import { withMessage } from "../Message.js"
import { EnvName, ProjectName, SecretKey } from "../Names.js"
import { integerParameter, LimitParameter, optional } from "../Schemas.js"
import { OrgPath, paths } from "./Paths.js"
import { Admission, Requires } from "./Requirement.js"

const wordMessage = withMessage("must be a word of at most 100 characters")
export const AuditWord = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_.@:-]{1,100}$/, wordMessage))

const actorMessage = withMessage("must be an id, an e-mail address or the name of a service account")
export const AuditActor = Schema.String.pipe(
  Schema.pattern(/^[\x21-\x7e](?:[\x20-\x7e]{0,318}[\x21-\x7e])?$/, actorMessage)
)

const momentMessage = withMessage("must be a date, or a date and time in UTC such as 2026-01-31T08:00:00Z")
/** A date means midnight UTC at its beginning. */
export const AuditMoment = Schema.String.pipe(
  Schema.pattern(/^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?Z)?$/, momentMessage),
  Schema.filter((text) => !Number.isNaN(Date.parse(text)), momentMessage)
)

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

const chainMessage = withMessage("must be 64 hexadecimal digits in lowercase")

/** What binds an entry to those before it. */
export const ChainLink = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/, chainMessage))

/** The number of an entry, in a query string. */
export const SeqParameter = integerParameter(1, 2_147_483_647)

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
