import { AuditCursor } from "@coffer/domain/AuditCursor"
import { AuditPage } from "@coffer/domain/AuditEntry"
import { AuditActor, AuditMoment, AuditWord } from "@coffer/domain/AuditFilters"
import { EnvName, ProjectName, SecretKey } from "@coffer/domain/Names"
import { integerParameter, optional } from "@coffer/domain/Schemas"
import { Schema } from "effect"
import { reads } from "../Hints.js"
import { parameters, tool } from "../Tool.js"

/** About 2,000 tokens. */
const entriesOfPage = 10

export const auditList = tool({
  name: "audit_list",
  title: "Read the audit log",
  description:
    "Returns entries of an organization's audit log, newest first: who did what, when and from where, never a value. " +
    "Where pagination.has_next is true, call again with after set to pagination.next_cursor. Use it to find out who read or changed something; it takes an admin's rights.",
  hints: reads,
  parameters: parameters({
    action: optional(AuditWord.annotations({ description: "Only this action, such as secret.read" })),
    actor: optional(
      AuditActor.annotations({ description: "Only this actor: an id, an e-mail address or a service account's name" })
    ),
    resource_type: optional(AuditWord.annotations({ description: "Only this type of resource, such as secret" })),
    in_project: optional(ProjectName.annotations({ description: "Only what happened in this project" })),
    in_env: optional(EnvName.annotations({ description: "Only what happened in this environment" })),
    key: optional(
      SecretKey.annotations({ description: "Only what happened to this key, also where a whole environment was read" })
    ),
    since: optional(
      Schema.typeSchema(AuditMoment).annotations({
        description: "Only from this moment on: a date, or a time in UTC such as 2026-01-31T08:00:00Z"
      })
    ),
    until: optional(
      Schema.typeSchema(AuditMoment).annotations({
        description: "Only before this moment"
      })
    ),
    limit: optional(
      Schema.typeSchema(integerParameter(1, 100)).annotations({
        description: `At most this many; default ${entriesOfPage}`
      })
    ),
    after: optional(AuditCursor.annotations({ description: "The next_cursor of the page before" }))
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
