import {
  type AclExplanation,
  type AclRule,
  maxRuleDays,
  type Permission,
  type RuleSubjectType
} from "@coffer/domain/access/AclRule"
import { actorName, delegationOf, viaOf } from "@coffer/domain/access/Actor"
import { RuleId } from "@coffer/domain/base/Ids"
import { allKeys, fitsAllKeys } from "@coffer/domain/secrets/KeyPatterns"
import { ValidationError } from "@coffer/domain/errors/Errors"
import type { EnvName, GroupName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import type { Pattern } from "@coffer/domain/base/Pattern"
import * as Effect from "effect/Effect"
import { denied, type Place, sourceOf } from "../../access/Access.js"
import { beyondDelegation, explain, isWholeAdmin } from "../../access/place/Decisions.js"
import { notFound, notVisible } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { recordLimit } from "../../base/Limit.js"
import { now, timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { method } from "../../base/tracing/Traced.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { Database } from "../../database/Database.js"
import { checkFutureEnd } from "../Ends.js"
import { aclRepo, keysOfRule, type RuleRow } from "./Repo.js"
import { ruleExpiry, ruleFacts } from "./RuleExpiry.js"
import { type AclPlace, isSelf, makeSubjects, noSubject, type SubjectRef } from "./Subjects.js"

export const ruleLimits = {
  all: recordLimit(20_000, (max) => `an organization has at most ${max} access rules`),
  /** Each decision walks all rules of its subject. */
  ofSubject: recordLimit(
    1_000,
    (max) =>
      `a user, service account or group has at most ${max} access rules in an organization: grant one with a pattern, or revoke others`
  ),
  /** A person may be in all groups, and gets the rules of all of them. */
  ofGroups: recordLimit(
    2_000,
    (max) =>
      `the groups of an organization have together at most ${max} access rules: grant one with a pattern, or revoke others`
  )
}

export interface GrantRequest extends Omit<SubjectRef, "subject_type"> {
  readonly subject_type: RuleSubjectType
  readonly group?: GroupName
  readonly project_pattern: Pattern
  readonly env_pattern: Pattern
  readonly permission: Permission
  /** Without it, the rule is for all keys. */
  readonly key_pattern?: string
  readonly denies?: boolean
  /** Without it, the rule lasts. */
  readonly expires_at?: string
}

export const aclRule = ({
  denies,
  email,
  expires_at,
  group_name,
  key_pattern,
  name,
  request_id,
  ...row
}: RuleRow): AclRule => ({
  ...row,
  ...keysOfRule({ denies, key_pattern }),
  ...(email !== null && { email }),
  ...(row.subject_type === "service_account" && name !== null && { name }),
  ...(group_name !== null && { group: group_name }),
  ...(expires_at !== null && { expires_at: timestamp(expires_at) }),
  ...(request_id !== null && { request_id })
})

interface RulePatterns {
  readonly subject_type: RuleSubjectType
  readonly project_pattern: string
  readonly env_pattern: string
}

/**
 * Whether the caller may manage a rule. People manage all: their role was checked before. A service account manages rules of
 * service accounts, with the same patterns as one of its own `admin` rules; with an `admin` rule for everything, all of them.
 */
const manages = (place: Pick<AclPlace, "actor" | "grants">, rule: RulePatterns): boolean =>
  place.actor.type === "user" ||
  (rule.subject_type === "service_account" &&
    place.grants.some(
      (own) =>
        isWholeAdmin(own) &&
        ((own.project_pattern === "*" && own.env_pattern === "*") ||
          (own.project_pattern === rule.project_pattern && own.env_pattern === rule.env_pattern))
    ))

/** The keys of a rule as they are stored: all patterns that fit every key are one. */
const storedKeys = ({ denies = false, key_pattern = allKeys }: Pick<GrantRequest, "denies" | "key_pattern">) => ({
  key_pattern: fitsAllKeys(key_pattern) ? allKeys : key_pattern,
  denies: denies ? 1 : 0
})
type StoredKeys = ReturnType<typeof storedKeys>

/** `admin` is about the environment, so that no rule gives it for some keys. */
const checkKeys = ({ permission }: GrantRequest, { denies, key_pattern }: StoredKeys) =>
  permission === "admin" && denies === 0 && key_pattern !== allKeys
    ? new ValidationError({
        message: `key_pattern: admin is for all keys of an environment; grant write for ${key_pattern}, or admin without key_pattern`
      })
    : Effect.void

/** Whether something that ends `at` lasts until `end`; null: for ever. */
const lastsUntil = (at: number | null, end: number | null): boolean => at === null || (end !== null && at >= end)

/** The access rules of an organization. */
export class Acl extends Effect.Service<Acl>()("@coffer/server/Acl", {
  effect: Effect.gen(function* () {
    const repo = yield* aclRepo
    const { clock } = yield* Database
    const audit = yield* AuditLog
    const subjects = yield* makeSubjects
    const { expire } = yield* ruleExpiry

    const resolve = Effect.fnUntraced(function* (place: AclPlace, { group, ...subject }: GrantRequest) {
      const orgId = place.org.id
      if (group !== undefined) {
        const found = yield* repo.findGroup({ orgId, name: group })
        return found === undefined ? yield* notFound(`group ${group}`) : { id: found.id, group: found.name }
      }
      if (subject.email !== undefined) {
        const user = yield* repo.findUser({ orgId, email: subject.email })
        if (user !== undefined && user.role !== null) return { id: user.id, email: user.email }
      } else if (subject.subject_id !== undefined) {
        const account = yield* repo.findAccount({ orgId, id: subject.subject_id })
        if (account !== undefined) return { id: account.id, name: account.name }
      }
      return yield* noSubject(subject, place)
    })

    /** The end of a rule as the database compares it; null: it lasts. Fails if it has passed, or is too far away. */
    const endOf = Effect.fnUntraced(function* ({ expires_at }: GrantRequest) {
      if (expires_at === undefined) return null
      const end = Date.parse(expires_at)
      yield* checkFutureEnd(end, yield* clock, maxRuleDays)
      return end
    })

    /** A rule that a service account grants must not outlast those by which it may: it could keep its own rule for ever. */
    const checkEnd = Effect.fnUntraced(function* (
      place: Place<"acl.grant">,
      rule: RulePatterns & { readonly expires_at: number | null }
    ) {
      const { actor, org } = place
      if (actor.type === "user") return
      const own = yield* repo.grantsOf({ orgId: org.id, subjectId: actor.id })
      const lasting = own.filter((each) => lastsUntil(each.expires_at, rule.expires_at))
      if (!manages({ actor, grants: lasting }, rule)) {
        return yield* denied(
          audit,
          place,
          `a service account grants no rule that lasts longer than its own: its admin rule for these patterns, or for */*, in organization ${org.name} ends before`
        )
      }
    })

    /** The rule of a subject for the same patterns. One that has ended is removed first: it is none. */
    const current = Effect.fnUntraced(function* (
      place: AclPlace,
      subjectId: string,
      { env_pattern: envPattern, project_pattern: projectPattern }: RulePatterns,
      { denies, key_pattern: keyPattern }: StoredKeys
    ) {
      const orgId = place.org.id
      const patterns = { orgId, subjectId, projectPattern, envPattern, keyPattern, denies }
      yield* repo.holdSame(patterns)
      const same = yield* repo.findSame(patterns)
      if (same?.has_ended !== 1) return same
      yield* expire({ ...same, org_id: orgId })
      return undefined
    })

    const checkRoom = Effect.fnUntraced(function* (place: AclPlace, subjectId: string, subjectType: RuleSubjectType) {
      const orgId = place.org.id
      yield* ruleLimits.all.room(yield* repo.count({ orgId }))
      yield* ruleLimits.ofSubject.room(yield* repo.countOf({ orgId, subjectId }))
      if (subjectType === "group") yield* ruleLimits.ofGroups.room(yield* repo.countOfGroups({ orgId }))
    })

    /** Grants or denies a permission, or changes the rule with the same subject and patterns. Returns whether the rule is new. */
    const grant = method("Acl.grant", function* (place: Place<"acl.grant">, request: GrantRequest) {
      if (!manages(place, request)) {
        return yield* denied(
          audit,
          place,
          `a service account manages rules of service accounts only: this needs an admin rule for exactly these patterns, or for */*, in organization ${place.org.name}`
        )
      }
      const keys = storedKeys(request)
      yield* checkKeys(request, keys)
      const expires_at = yield* endOf(request)
      yield* checkEnd(place, { ...request, expires_at })
      const granted_at = yield* now
      const newId = RuleId.make(yield* uuidV7)
      const { env_pattern, permission, project_pattern, subject_type } = request
      const { id: subject_id, ...named } = yield* resolve(place, request)
      const same = yield* current(place, subject_id, request, keys)
      if (same === undefined) yield* checkRoom(place, subject_id, subject_type)
      const end = expires_at === null ? {} : { expires_at: timestamp(expires_at) }
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
        ? repo.insert([{ ...fresh, org_id: place.org.id, ...keys, expires_at }])
        : repo.set({ id: same.id, permission, expires_at, now: granted_at })
      const rule: AclRule =
        same === undefined
          ? { ...fresh, ...named, ...keysOfRule(keys), ...end }
          : { ...aclRule({ ...same, expires_at }), permission, updated_at: granted_at }
      yield* audit.change(sourceOf(place), {
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
          ...keysOfRule(keys),
          ...end,
          ...(same !== undefined && { before: same.permission }),
          ...(typeof same?.expires_at === "number" && { expires_at_before: timestamp(same.expires_at) })
        }
      })
      return { rule, created: same === undefined }
    })

    const list = method("Acl.list", function* (place: Place<"acl.list">) {
      const rows = yield* repo.all(place.org.id)
      const records: Array<AclRule> = []
      yield* forEachInSlices(rows, (row) =>
        Effect.sync(() => {
          if (manages(place, row)) records.push(aclRule(row))
        })
      )
      return records
    })

    const revoke = method("Acl.revoke", function* (place: Place<"acl.revoke">, id: RuleId) {
      const removed_at = yield* now
      const row = yield* repo.find({ orgId: place.org.id, id })
      if (row === undefined || !manages(place, row)) {
        return yield* notFound(`access rule ${id}`)
      }
      if ((yield* repo.remove({ id, now: removed_at })).length === 0) return yield* notFound(`access rule ${id}`)
      yield* audit.change(sourceOf(place), {
        action: "acl.revoke",
        resource_type: "acl_rule",
        resource_id: id,
        metadata: ruleFacts(row)
      })
    })

    /** Returns a subject's permissions in an environment and the roles or rules behind them. For admins, and about oneself. */
    const explainAccess = method(
      "Acl.explain",
      function* (place: Place<"acl.explain">, ref: SubjectRef, project: ProjectName, env: EnvName, key?: SecretKey) {
        yield* subjects.mayAskAbout(place, ref)
        const delegation = delegationOf(place.actor)
        const beyond = delegation && beyondDelegation(delegation, place.action, { org: place.org.name, project, env })
        if (beyond !== null) return yield* denied(audit, place, beyond)
        const found = yield* repo.findPlace({ orgId: place.org.id, project, env })
        const scope = place.actor.type === "service_account" ? place.actor.project : null
        if (found === undefined || (scope !== null && scope.id !== found.project_id)) {
          return yield* notVisible(`environment ${project}/${env}`)
        }
        const { projectId, subject } = yield* subjects.find(place, ref)
        const explanation = explain(subject, { org: place.org.name, project, env }, key)
        const via = isSelf(place.actor, ref) ? viaOf(place.actor) : null
        const elsewhere = projectId !== null && projectId !== found.project_id
        const answer: AclExplanation = {
          allowed: elsewhere ? [] : explanation.allowed,
          ...(!elsewhere &&
            explanation.allowed_for_some.length > 0 && { allowed_for_some: explanation.allowed_for_some }),
          because: explanation.because.map(({ rule_id, ...reason }) => ({
            ...reason,
            ...(rule_id !== undefined && { rule_id: RuleId.make(rule_id) }),
            ...(elsewhere && { limited_by: "the account is scoped to another project" })
          })),
          ...(via !== null && { via })
        }
        return answer
      }
    )

    return { grant, list, revoke, explain: explainAccess } as const
  })
}) {}
