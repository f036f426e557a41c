import type { AccessPage, AccessReason, EnvironmentAccess } from "@coffer/domain/access/AccessTable"
import { inPlaceOrder } from "@coffer/domain/directory/EnvironmentOrder"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import { defined } from "@coffer/domain/base/Defined"
import { momentText } from "../../base/Moments.js"
import { atOrg, wide } from "../../grammar/Command.js"
import { subjectOf } from "../../subjects/Subjects.js"
import { optionalPersonOrAccount } from "../../subjects/Who.js"
import { listView } from "../../terminal/View.js"
import { forKeys } from "./RuleText.js"
import { usageColumn } from "./UsageText.js"

export const because = ({
  by,
  env_pattern,
  expires_at,
  group,
  key_pattern,
  limited_by,
  project_pattern,
  role
}: AccessReason): string =>
  [
    by === "rule"
      ? `rule ${project_pattern ?? "?"}/${env_pattern ?? "?"}${forKeys({ key_pattern })}`
      : by === "role"
        ? `role ${role ?? "?"}`
        : by,
    ...(group === undefined ? [] : [`of the group ${group}`]),
    ...(expires_at === undefined ? [] : [`until ${momentText(expires_at)}`]),
    ...(limited_by === undefined ? [] : [`limited by ${limited_by}`])
  ].join(", ")

const columns = {
  env: ({ env, project }: EnvironmentAccess) => `${project}/${env}`,
  permission: ({ permission, permission_for_some }: EnvironmentAccess) =>
    permission_for_some === undefined
      ? (permission ?? "none")
      : `${permission === null ? "" : `${permission}, `}${permission_for_some} for some keys`,
  because: ({ because: reason }: EnvironmentAccess) => (reason === undefined ? undefined : because(reason))
}

export const table = atOrg("table", {
  description:
    "What a subject may do in each environment, and which role or rule says so; without one, what you may do",
  examples: ["coffer acl table grace@example.com", "coffer acl table account:ci --json"],
  options: { who: optionalPersonOrAccount, wide },
  run: ({ call, options: { who }, path }) =>
    Effect.gen(function* () {
      const named = who === undefined ? undefined : yield* subjectOf(call, path, who)
      const subject = named === undefined ? undefined : "email" in named ? named.email : named.subject_id
      const data: Array<EnvironmentAccess> = []
      for (let after: string | null | undefined = undefined; after !== null;) {
        const urlParams = { limit: maxPageSize, ...defined({ subject, after }) }
        const page: AccessPage = yield* call("acl", (api) => api.access({ path, urlParams }))
        data.push(...page.data)
        after = page.pagination.next_cursor
      }
      return listView({ data: inPlaceOrder(data) }, { ...columns, ...usageColumn(data) }, "there are no environments")
    })
})
