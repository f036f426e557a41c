import type { AclExplanation, AclRule, Permission, SubjectType } from "@coffer/domain/AclRule"
import { actorName, viaOf } from "@coffer/domain/Actor"
import { LimitExceeded } from "@coffer/domain/Errors"
import { RuleId } from "@coffer/domain/Ids"
import type { EnvName, ProjectName } from "@coffer/domain/Names"
import type { Pattern } from "@coffer/domain/Pattern"
import * as Effect from "effect/Effect"
import { denied, type Place, sourceOf } from "../../access/Access.js"
import { explain } from "../../access/Decisions.js"
import { notFound, notVisible } from "../../access/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { traced } from "../../base/tracing/Traced.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { aclRepo, type RuleRow } from "./Repo.js"
import { type AclPlace, isSelf, makeSubjects, noSubject, type SubjectRef } from "./Subjects.js"

const maxRules = 20_000

/** Each decision walks all rules of its subject. */
const maxRulesOfSubject = 1_000

export interface GrantRequest extends SubjectRef {
  readonly project_pattern: Pattern
  readonly env_pattern: Pattern
  readonly permission: Permission
}

const aclRule = ({ email, name, ...row }: RuleRow): AclRule => ({
  ...row,
  ...(email !== null && { email }),
  ...(row.subject_type === "service_account" && name !== null && { name })
})

interface RulePatterns {
  readonly subject_type: SubjectType
  readonly project_pattern: string
  readonly env_pattern: string
}

/**
 * Whether the caller may manage a rule. People manage all: their role was checked before. A service account manages rules of
 * service accounts, with the same patterns as one of its own `admin` rules; with an `admin` rule for everything, all of them.
 */
const manages = (place: AclPlace, rule: RulePatterns): boolean =>
  place.actor.type === "user" ||
  (rule.subject_type === "service_account" &&
    place.grants.some(
      (own) =>
        own.permission === "admin" &&
        ((own.project_pattern === "*" && own.env_pattern === "*") ||
          (own.project_pattern === rule.project_pattern && own.env_pattern === rule.env_pattern))
    ))

/** The access rules of an organization. */
export class Acl extends Effect.Service<Acl>()("@coffer/server/Acl", {
  effect: Effect.gen(function* () {
    const repo = yield* aclRepo
    const audit = yield* AuditLog
    const subjects = yield* makeSubjects

    const resolve = Effect.fnUntraced(function* (place: AclPlace, subject: SubjectRef) {
      const orgId = place.org.id
      if (subject.email !== undefined) {
        const user = yield* repo.findUser({ orgId, email: subject.email })
        if (user !== undefined && user.role !== null) return { id: user.id, email: user.email }
      } else if (subject.subject_id !== undefined) {
        const account = yield* repo.findAccount({ orgId, id: subject.subject_id })
        if (account !== undefined) return { id: account.id, name: account.name }
      }
      return yield* noSubject(subject, place)
    })

    const checkRoom = Effect.fnUntraced(function* (place: AclPlace, subjectId: string) {
      const orgId = place.org.id
      if ((yield* repo.count({ orgId })).count >= maxRules) {
        return yield* new LimitExceeded({ message: `an organization has at most ${maxRules} access rules` })
      }
      if ((yield* repo.countOf({ orgId, subjectId })).count >= maxRulesOfSubject) {
        return yield* new LimitExceeded({
          message: `a user or service account has at most ${maxRulesOfSubject} access rules in an organization: grant one with a pattern, or revoke others`
        })
      }
    })

    /** Grants a permission, or changes the rule with the same subject and patterns. Returns whether the rule is new. */
    const grant = traced("Acl.grant")(
      Effect.fnUntraced(function* (place: Place<"acl.grant">, request: GrantRequest) {
        if (!manages(place, request)) {
          return yield* denied(
            audit,
            place,
            `a service account manages rules of service accounts only: this needs an admin rule for exactly these patterns, or for */*, in organization ${place.org.name}`
          )
        }
        const granted_at = yield* now
        const newId = RuleId.make(yield* uuidV7)
        const { env_pattern, permission, project_pattern, subject_type } = request
        const { id: subject_id, ...named } = yield* resolve(place, request)
        const same = yield* repo.findSame({
          orgId: place.org.id,
          subjectId: subject_id,
          projectPattern: project_pattern,
          envPattern: env_pattern
        })
        if (same === undefined) yield* checkRoom(place, subject_id)
        const fresh = {
          id: newId,
          subject_type,
          subject_id,
          project_pattern,
          env_pattern,
          permission,
          created_by: actorName(place.actor),
          created_at: granted_at,
          updated_at: granted_at
        }
        yield* same === undefined
          ? repo.insert({ ...fresh, orgId: place.org.id })
          : repo.setPermission({ id: same.id, permission, now: granted_at })
        const rule: AclRule =
          same === undefined ? { ...fresh, ...named } : { ...aclRule(same), permission, updated_at: granted_at }
        yield* audit.write(sourceOf(place), {
          action: "acl.grant",
          resource_type: "acl_rule",
          resource_id: rule.id,
          metadata: {
            subject_type,
            subject_id,
            ...named,
            project_pattern,
            env_pattern,
            permission,
            ...(same !== undefined && { before: same.permission })
          }
        })
        return { rule, created: same === undefined }
      })
    )

    const list = traced("Acl.list")(
      Effect.fnUntraced(function* (place: Place<"acl.list">) {
        const rows = yield* repo.all(place.org.id)
        const records: Array<AclRule> = []
        yield* forEachInSlices(rows, (row) =>
          Effect.sync(() => {
            if (manages(place, row)) records.push(aclRule(row))
          })
        )
        return records
      })
    )

    const revoke = traced("Acl.revoke")(
      Effect.fnUntraced(function* (place: Place<"acl.revoke">, id: RuleId) {
        const removed_at = yield* now
        const row = yield* repo.find({ orgId: place.org.id, id })
        if (row === undefined || !manages(place, row)) {
          return yield* notFound(`access rule ${id}`)
        }
        yield* repo.remove({ id, now: removed_at })
        const { email, env_pattern, name, permission, project_pattern, subject_id, subject_type } = row
        yield* audit.write(sourceOf(place), {
          action: "acl.revoke",
          resource_type: "acl_rule",
          resource_id: id,
          metadata: {
            subject_type,
            subject_id,
            ...(email !== null && { email }),
            ...(name !== null && { name }),
            project_pattern,
            env_pattern,
            permission
          }
        })
      })
    )

    /** Returns a subject's permissions in an environment and the roles or rules behind them. For admins, and about oneself. */
    const explainAccess = traced("Acl.explain")(
      Effect.fnUntraced(function* (place: Place<"acl.explain">, ref: SubjectRef, project: ProjectName, env: EnvName) {
        yield* subjects.mayAskAbout(place, ref)
        const found = yield* repo.findPlace({ orgId: place.org.id, project, env })
        const scope = place.actor.type === "service_account" ? place.actor.project : null
        if (found === undefined || (scope !== null && scope.id !== found.project_id)) {
          return yield* notVisible(`environment ${project}/${env}`)
        }
        const { projectId, subject } = yield* subjects.find(place, ref)
        const explanation = explain(subject, { org: place.org.name, project, env })
        const via = isSelf(place.actor, ref) ? viaOf(place.actor) : null
        const elsewhere = projectId !== null && projectId !== found.project_id
        const answer: AclExplanation = {
          allowed: elsewhere ? [] : explanation.allowed,
          because: explanation.because.map(({ rule_id, ...reason }) => ({
            ...reason,
            ...(rule_id !== undefined && { rule_id: RuleId.make(rule_id) }),
            ...(elsewhere && { limited_by: "the account is scoped to another project" })
          })),
          ...(via !== null && { via })
        }
        return answer
      })
    )

    return { grant, list, revoke, explain: explainAccess } as const
  })
}) {}
