import {
  type AccessPage,
  accessCursorOf,
  accessPositionOf,
  type AccessReason,
  type AccessSubject,
  type EnvironmentAccess
} from "@coffer/domain/access/AccessTable"
import { permissions } from "@coffer/domain/access/AclRule"
import { RuleId, ServiceAccountId } from "@coffer/domain/base/Ids"
import { paginationOf } from "@coffer/domain/base/Pagination"
import { allKeys } from "@coffer/domain/secrets/KeyPatterns"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import type { Place } from "../../access/Access.js"
import { atLeast, explain, type Reason, type Subject } from "../../access/place/Decisions.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { makeAccessUsage } from "./AccessUsage.js"
import { environmentsRepo, type PlacedEnvironment, positionOf } from "../environments/Repo.js"
import { makeSubjects, type SubjectRef } from "./Subjects.js"

const defaultLimit = 100

interface Request {
  readonly subject?: AccessSubject
  readonly limit?: number
  readonly after?: string
}

const isAccountId = Schema.is(ServiceAccountId)

/** The subject of a request; without one, the caller. */
const refOf = ({ actor }: Place<"acl.explain">, subject: AccessSubject | undefined): SubjectRef => {
  const named = subject ?? (actor.type === "user" ? actor.email : actor.id)
  return isAccountId(named)
    ? { subject_type: "service_account", subject_id: named }
    : { subject_type: "user", email: named }
}

const byPermission = Order.mapInput(Order.number, ({ permission }: Reason) => permissions.indexOf(permission))
/** `~` sorts after every time: a reason without an end lasts. */
const byEnd = Order.mapInput(Order.string, ({ expires_at = "~" }: Reason) => expires_at)
const isWeaker = Order.lessThan(Order.combine(byPermission, byEnd))

/** The first of the highest reasons that last longest: superadmins and roles come before rules. */
const strongest = (reasons: ReadonlyArray<Reason>): Reason | undefined =>
  reasons
    .filter(({ denies }) => denies !== true)
    .reduce<Reason | undefined>(
      (best, reason) => (best === undefined || isWeaker(best, reason) ? reason : best),
      undefined
    )

/** At most so many patterns of rules that deny are named. */
const namedPatterns = 3

/** The rules that take a part of what a rule gives. */
const deniedBy = ({ by, permission }: Reason, reasons: ReadonlyArray<Reason>): string | undefined => {
  if (by !== "rule") return undefined
  const takes = reasons.filter(
    ({ denies, permission: denied }) => denies === true && atLeast(permissions, permission, denied)
  )
  const patterns = [...new Set(takes.map(({ key_pattern = allKeys }) => key_pattern))]
  const more = patterns.length > namedPatterns ? ` and ${patterns.length - namedPatterns} more` : ""
  return patterns.length === 0 ? undefined : `rules that deny ${patterns.slice(0, namedPatterns).join(", ")}${more}`
}

/** A reason with the patterns of its rule, and of those that deny a part of it. */
export const reasonOf = (
  { grants }: Subject,
  { rule_id, ...reason }: Reason,
  reasons: ReadonlyArray<Reason>
): AccessReason => {
  const rule = grants.find(({ id }) => id === rule_id)
  const limited_by = reason.limited_by ?? deniedBy(reason, reasons)
  return {
    ...reason,
    ...(limited_by !== undefined && { limited_by }),
    ...(rule !== undefined && {
      rule_id: RuleId.make(rule.id),
      project_pattern: rule.project_pattern,
      env_pattern: rule.env_pattern
    })
  }
}

/** The access of one subject to all environments of an organization. */
export class AccessTable extends Effect.Service<AccessTable>()("@coffer/server/AccessTable", {
  effect: Effect.gen(function* () {
    const environments = yield* environmentsRepo
    const subjects = yield* makeSubjects
    const usageOf = yield* makeAccessUsage

    /** A page of the environments with the subject's permission in each, and why. For admins, and about oneself. */
    const read = method(
      "AccessTable.read",
      function* (place: Place<"acl.explain">, { after, limit = defaultLimit, ...request }: Request) {
        const ref = refOf(place, request.subject)
        yield* subjects.mayAskAbout(place, ref)
        const { id, projectId, subject } = yield* subjects.find(place, ref)

        const accessOf = (row: PlacedEnvironment): EnvironmentAccess => {
          const { env, project, project_id } = row
          const { allowed, allowed_for_some, because } = explain(subject, { org: place.org.name, project, env })
          const reason = strongest(because)
          const some = allowed_for_some.at(-1)
          const isElsewhere = projectId !== null && projectId !== project_id
          return {
            project,
            env,
            ...positionOf(row),
            permission: isElsewhere ? null : (allowed.at(-1) ?? null),
            ...(!isElsewhere && some !== undefined && { permission_for_some: some }),
            ...(reason !== undefined && {
              because: {
                ...reasonOf(subject, reason, because),
                ...(isElsewhere && { limited_by: "the account is scoped to another project" })
              }
            })
          }
        }

        const onlyId = place.actor.type === "service_account" ? (place.actor.project?.id ?? null) : null
        const position = accessPositionOf(after)
        const rows = yield* environments.ofOrg({ ...position, orgId: place.org.id, onlyId, limit: limit + 1 })
        // A subject may have many rules, and each decision compares all of them.
        const data = yield* forEachInSlices(rows.slice(0, limit), (row) => Effect.sync(() => accessOf(row)))
        const marks = request.subject === undefined ? [] : yield* usageOf(place, id, data)
        const next = rows[limit]
        const page: AccessPage = {
          data: data.map((access, index) => {
            const usage = marks[index] ?? null
            return usage === null ? access : { ...access, usage }
          }),
          pagination: paginationOf(limit, next === undefined ? null : accessCursorOf(next))
        }
        return page
      }
    )

    return { read } as const
  }),
  dependencies: [AuditIndex.Default]
}) {}
