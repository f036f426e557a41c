import { AuditCursor } from "@coffer/domain/audit/AuditCursor"
import { AuditPage } from "@coffer/domain/audit/AuditEntry"
import {
  AuditAction,
  AuditActor,
  AuditEnv,
  AuditKey,
  AuditProject,
  AuditResourceType,
  AuditSince,
  AuditUntil
} from "@coffer/domain/audit/AuditFilters"
import { LimitParameter, optional } from "@coffer/domain/base/Schemas"
import * as Schema from "effect/Schema"
import { reads } from "../Hints.js"
import { parameters, tool } from "../Tool.js"

/** About 2,000 tokens. */
const entriesOfPage = 10

export const auditList = tool({
  name: "audit_list",
  action: "audit.read",
  title: "Read the audit log",
  description:
    "Returns entries of an organization's audit log, newest first: who did what (such as secret.read), when and from where, never a value. " +
    "Where pagination.has_next is true, call again with after set to pagination.next_cursor. Use it to find out who read or changed something; it takes an admin's rights.",
  hints: reads,
  parameters: parameters({
    action: optional(AuditAction),
    actor: optional(AuditActor),
    resource_type: optional(AuditResourceType),
    in_project: optional(AuditProject),
    in_env: optional(AuditEnv),
    key: optional(AuditKey),
    since: optional(AuditSince),
    until: optional(AuditUntil),
    limit: optional(
      Schema.typeSchema(LimitParameter).annotations({
        description: `at most this many; default ${entriesOfPage}`
      })
    ),
    after: optional(AuditCursor)
  }),
  at: "org",
  output: AuditPage,
  run: (
    call,
    path,
    { action, actor, after, in_env, in_project, key, limit = entriesOfPage, resource_type, since, until }
  ) =>
    call("audit", (api) =>
      api.list({
        path,
        urlParams: {
          ...(action !== undefined && { action }),
          ...(actor !== undefined && { actor }),
          ...(in_project !== undefined && { project: in_project }),
          ...(in_env !== undefined && { env: in_env }),
          ...(key !== undefined && { key }),
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
          ...(resource_type !== undefined && { resource_type }),
          limit,
          ...(after !== undefined && { after })
        }
      })
    )
})
