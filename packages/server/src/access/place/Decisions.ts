import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import type { Delegated } from "@coffer/domain/access/Actor"
import { type Role, roles } from "@coffer/domain/directory/Member"
import type { GroupName, SecretKey } from "@coffer/domain/base/Names"
import { type Action, type Need, needs } from "@coffer/domain/access/Permissions"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import { allKeys, fitsAllKeys, fitsKeyPattern } from "@coffer/domain/secrets/KeyPatterns"
import { timestamp } from "../../base/Time.js"
import { type KeyReach, reachOf } from "./KeyReach.js"

/** An access rule, reduced to what a decision needs. */
export interface Grant {
  readonly id: string
  readonly project_pattern: string
  readonly env_pattern: string
  readonly permission: Permission
  /** The keys that it is for; absent: all. */
  readonly key_pattern?: string
  /** Whether it takes the permission, and those above it, from what other rules give. */
  readonly denies?: boolean
  /** When it ends, in milliseconds since 1970; null if it lasts. Absent where only decisions are made. */
  readonly expires_at?: number | null
  /** The group that it is about; absent where only decisions are made. */
  readonly group?: GroupName
}

/** The caller within one organization: everything that a decision depends on. */
export interface Subject {
  readonly superadmin: boolean
  readonly role: Role | null
  /** For a service account of this organization; `null` for a user. */
  readonly account: { readonly scoped: boolean; readonly reveal: boolean } | null
  readonly grants: ReadonlyArray<Grant>
  /** The part of a person's rights that a delegation gives; absent for the person. */
  readonly delegation?: Delegated | null
}

export interface PlaceNames {
  readonly org: string
  readonly project?: string | undefined
  readonly env?: string | undefined
}

export type Decision =
  /** With `reach` if rules give it for some keys alone. */
  | { readonly allowed: true; readonly via: "role" | "rule" | "superadmin"; readonly reach?: KeyReach }
  | { readonly allowed: false; readonly missing: string }

/**
 * The keys that a decision is about. `all`: those that there are, and the decision is no if rules give only some. `some`: the
 * decision says which, and what is shown, counted and changed has to be of these.
 */
export type KeyScope = "all" | "some" | { readonly key: SecretKey }

export const atLeast = <Word extends string>(order: ReadonlyArray<Word>, has: Word, wanted: Word): boolean =>
  order.indexOf(has) >= order.indexOf(wanted)

export const hasRole = (subject: Subject, role: Role): boolean =>
  subject.role !== null && atLeast(roles, subject.role, role)

export type RulePatterns = Pick<Grant, "project_pattern" | "env_pattern">

/** Returns a function that matches rules against the place. */
export const ruleMatcherOf = ({ env, project }: PlaceNames): ((rule: RulePatterns) => boolean) => {
  if (project === undefined || env === undefined) return () => false
  const [matchesProject, matchesEnv] = [matcherOf(project), matcherOf(env)]
  return (rule) => matchesProject(rule.project_pattern) && matchesEnv(rule.env_pattern)
}

const where = (place: PlaceNames): string =>
  place.project === undefined
    ? `organization ${place.org}`
    : place.env === undefined
      ? `project ${place.project} of organization ${place.org}`
      : `environment ${place.project}/${place.env} of organization ${place.org}`

const allowed = (via: "role" | "rule" | "superadmin"): Decision => ({ allowed: true, via })
const denied = (missing: string): Decision => ({ allowed: false, missing })

/** Why a call is none that a delegation makes. */
export const neverDelegated = "a delegation never does this: the person who made it has to"

/** Whether a rule gives everything in its environments. */
export const isWholeAdmin = ({ denies, key_pattern, permission }: Grant): boolean =>
  permission === "admin" && denies !== true && (key_pattern === undefined || key_pattern === allKeys)

const decideByRole = (
  need: { readonly role: Role; readonly account?: "any" | "manager" },
  subject: Subject,
  place: PlaceNames
): Decision => {
  if (subject.account === null) {
    return hasRole(subject, need.role)
      ? allowed("role")
      : denied(`this needs the role ${need.role} in organization ${place.org}`)
  }
  if (need.account === undefined) {
    return denied(
      `this needs the role ${need.role} in organization ${place.org}, and a service account never has a role`
    )
  }
  if (need.account === "any") return allowed("role")
  if (subject.account.scoped || !subject.grants.some(isWholeAdmin)) {
    return denied(
      `this needs the role admin, or a service account without a project that has an admin rule, in organization ${place.org}`
    )
  }
  // It could revoke the rule that denies, or make an account without it.
  return subject.grants.some(({ denies }) => denies)
    ? denied(
        `this needs the role admin in organization ${place.org}: a service account with a rule that denies never manages`
      )
    : allowed("rule")
}

/** The keys of a place for which rules give a permission: null if they are all, undefined if they are none. */
const reachIn = (wanted: Permission, { grants }: Subject, place: PlaceNames): KeyReach | null | undefined => {
  const matchesPlace = ruleMatcherOf(place)
  const gives: Array<string> = []
  const takes: Array<string> = []
  // Most subjects have no such rule, and one rule is enough.
  const isWhole = (pattern: string) => fitsAllKeys(pattern) && !grants.some((grant) => grant.denies)
  for (const grant of grants) {
    const { denies = false, key_pattern = allKeys, permission } = grant
    if (!(denies ? atLeast(permissions, wanted, permission) : atLeast(permissions, permission, wanted))) continue
    if (!matchesPlace(grant)) continue
    if (!denies && isWhole(key_pattern)) return null
    ;(denies ? takes : gives).push(key_pattern)
  }
  return reachOf(gives, takes)
}

/** Whether a rule denies a permission for a key, or for all keys. */
const isDenied = (wanted: Permission, { grants }: Subject, place: PlaceNames, key: SecretKey | null): boolean => {
  const matchesPlace = ruleMatcherOf(place)
  return grants.some(
    (grant) =>
      grant.denies === true &&
      atLeast(permissions, wanted, grant.permission) &&
      matchesPlace(grant) &&
      (key === null ? fitsAllKeys : (pattern: string) => fitsKeyPattern(pattern, key))(grant.key_pattern ?? allKeys)
  )
}

const decideByRule = (
  need: {
    readonly permission: Permission
    readonly role: Role
    readonly reveals?: true
    readonly people?: true
  },
  subject: Subject,
  place: PlaceNames,
  scope: KeyScope
): Decision => {
  if (subject.account === null && hasRole(subject, "admin")) return allowed("role")
  if (subject.account === null && !hasRole(subject, need.role)) {
    return denied(`this needs at least the role ${need.role} in organization ${place.org}, whatever the rules`)
  }
  if (need.people === true && subject.account !== null) {
    return denied("this needs a person: a service account never decides what secrets are used for, whatever its rules")
  }
  if (need.reveals === true && subject.account?.reveal === false) {
    return denied("this service account was made with reveal: false and is never given a value")
  }
  const reach = reachIn(need.permission, subject, place)
  if (reach === null) return allowed("rule")
  const { permission } = need
  const key = typeof scope === "string" ? null : scope.key
  const rule = `this needs a rule with permission ${permission} for`
  if (reach !== undefined && scope === "all")
    return denied(`${rule} all keys of ${where(place)}, and yours are for some`)
  if (reach !== undefined && (key === null || reach.has(key))) return { allowed: true, via: "rule", reach }
  const what = key === null || reach === undefined ? where(place) : `key ${key} of ${where(place)}`
  return denied(
    isDenied(permission, subject, place, key)
      ? `a rule denies ${permission} for ${what}, whatever other rules give`
      : `${rule} ${what}`
  )
}

/** Says why a delegation does not cover an action at a place; null if it does. Depends on names alone: it reveals nothing. */
export const beyondDelegation = (
  { keys, name, org, permission, places, reveal }: Delegated,
  action: Action,
  place: PlaceNames,
  key?: SecretKey
): string | null => {
  const isThere = (asked: string | undefined, own: string) => asked === undefined || asked === own
  const covers = places.some(({ env, project }) => isThere(place.project, project.name) && isThere(place.env, env.name))
  if (place.org !== org.name || !covers) {
    const names = places.map(({ env, project }) => `${project.name}/${env.name}`)
    const environments = `${names.length === 1 ? "environment" : "environments"} ${names.join(", ")}`
    return `the delegation ${name} is for ${environments} of organization ${org.name} alone`
  }
  const need: Need = needs[action]
  if (!("permission" in need)) return need.delegable === true ? null : neverDelegated
  if (need.people === true) return neverDelegated
  if (!atLeast(permissions, permission, need.permission)) {
    return `the delegation ${name} gives at most ${permission}, and this needs ${need.permission}`
  }
  if (need.reveals === true && !reveal) return `the delegation ${name} was made without values and is never given one`
  return key === undefined || keys === null || keys.has(key) ? null : `the delegation ${name} is limited to other keys`
}

/**
 * Returns the scope of OAuth that would cover an action at a place which a delegation of a program does not cover; null if none would.
 * It has what the program was given already, so that asking for it loses nothing.
 */
export const widerScope = (
  delegation: Delegated,
  action: Action,
  place: PlaceNames,
  key?: SecretKey
): string | null => {
  const widest = { ...delegation, permission: "write", reveal: true } as const
  if (!delegation.isConnected || beyondDelegation(widest, action, place, key) !== null) return null
  const need: Need = needs[action]
  const needed = "permission" in need ? need.permission : delegation.permission
  const permission = atLeast(permissions, delegation.permission, needed) ? delegation.permission : needed
  const reveals = delegation.reveal || ("reveals" in need && need.reveals)
  return reveals ? `${permission} reveal` : permission
}

/**
 * Decides whether the subject may do the action: deny by default, allow by role, by rule, or as superadmin. A rule that denies
 * wins over those that give, and not over a role. Call it only for places whose existence the subject may know; others are
 * NOT_FOUND.
 */
export const decide = (action: Action, subject: Subject, place: PlaceNames, scope: KeyScope = "all"): Decision => {
  const { delegation = null } = subject
  const beyond =
    delegation && beyondDelegation(delegation, action, place, typeof scope === "string" ? undefined : scope.key)
  if (beyond !== null) return denied(beyond)
  const need: Need = needs[action]
  const decision = "permission" in need ? decideByRule(need, subject, place, scope) : decideByRole(need, subject, place)
  const isWhole = decision.allowed && decision.reach === undefined
  return !isWhole && subject.superadmin && subject.account === null ? allowed("superadmin") : decision
}

/** A role or rule that gives a permission, and what limits it. */
export interface Reason {
  readonly permission: Permission
  readonly by: "superadmin" | "role" | "rule"
  readonly role?: Role
  readonly rule_id?: string
  readonly key_pattern?: string
  readonly denies?: true
  readonly group?: GroupName
  readonly expires_at?: string
  readonly limited_by?: string
}

export interface Explanation {
  /** Those for all keys that were asked about. */
  readonly allowed: ReadonlyArray<Permission>
  /** Those for some keys, and not for all. */
  readonly allowed_for_some: ReadonlyArray<Permission>
  readonly because: ReadonlyArray<Reason>
}

/** The action that `explain` decides to test each permission. */
const representatives = {
  use: "secret.use",
  read: "secret.list",
  write: "secret.write",
  admin: "secret.destroy"
} as const

const delegatedLimitOf = ({ delegation = null }: Subject, permission: Permission): string | undefined => {
  if (delegation === null) return undefined
  if (!atLeast(permissions, delegation.permission, permission)) {
    return `the delegation ${delegation.name}, which gives at most ${delegation.permission}`
  }
  return delegation.reveal || permission === "use" ? undefined : "reveal: false, no value is ever returned"
}

const limitOf = (subject: Subject, permission: Permission): string | undefined => {
  if (subject.account !== null) {
    return subject.account.reveal || permission === "use" ? undefined : "reveal: false, no value is ever returned"
  }
  const limit = delegatedLimitOf(subject, permission)
  if (limit !== undefined || permission === "use" || permission === "read" || hasRole(subject, "developer"))
    return limit
  return `the role ${subject.role ?? "none"}, which never writes`
}

/** Why a rule that denies takes nothing from a subject. */
const unlimitedBy = ({ account, superadmin }: Subject, byRole: Role | null): string | undefined =>
  account === null && superadmin
    ? "being a superadmin, which no rule takes from"
    : byRole === null
      ? undefined
      : `the role ${byRole}, which no rule takes from`

/**
 * Returns a subject's permissions on the secrets of an environment, or on one of them, with every reason. Agrees with `decide`.
 */
export const explain = (subject: Subject, place: Required<PlaceNames>, key?: SecretKey): Explanation => {
  const scope = key === undefined ? "all" : { key }
  const isAllowed = (permission: Permission, keys: KeyScope) =>
    decide(representatives[permission], subject, place, keys).allowed
  const allowed = permissions.filter((permission) => isAllowed(permission, scope))
  const byRole = subject.account === null && hasRole(subject, "admin") ? subject.role : null
  const limited = (limit: string | undefined) => limit !== undefined && { limited_by: limit }
  const rules = subject.grants
    .filter(ruleMatcherOf(place))
    .filter(({ key_pattern = allKeys }) => key === undefined || fitsKeyPattern(key_pattern, key))
    .map(({ denies = false, expires_at = null, group, id, key_pattern = allKeys, permission }): Reason => ({
      permission,
      by: "rule",
      rule_id: id,
      ...(key_pattern !== allKeys && { key_pattern }),
      ...(denies && { denies }),
      ...(group !== undefined && { group }),
      ...(expires_at !== null && { expires_at: timestamp(expires_at) }),
      ...limited(denies ? unlimitedBy(subject, byRole) : limitOf(subject, permission))
    }))
  const whole = { permission: "admin", ...limited(delegatedLimitOf(subject, "admin")) } as const
  return {
    allowed,
    allowed_for_some:
      key === undefined
        ? permissions.filter((permission) => !allowed.includes(permission) && isAllowed(permission, "some"))
        : [],
    because: [
      ...(subject.superadmin && subject.account === null ? [{ ...whole, by: "superadmin" } as const] : []),
      ...(byRole === null ? [] : [{ ...whole, by: "role", role: byRole } as const]),
      ...rules
    ]
  }
}
