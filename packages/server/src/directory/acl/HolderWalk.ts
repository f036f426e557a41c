import {
  type HolderDelegation,
  type AccessHolder,
  type HolderKind,
  holderKinds,
  type HolderPosition
} from "@coffer/domain/access/AccessHolder"
import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import type { Delegated } from "@coffer/domain/access/Actor"
import { GroupId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import type { Place } from "../../access/Access.js"
import { keysIn } from "../../access/caller/Authenticator.js"
import { delegationLimit } from "../../access/caller/SessionLimits.js"
import { explain, type Grant, type Reason, ruleMatcherOf, type Subject } from "../../access/place/Decisions.js"
import { ServerConfig } from "../../base/Config.js"
import { mapInSlices, pacing } from "../../base/EventLoop.js"
import { timestamp } from "../../base/Time.js"
import { reasonOf } from "./AccessTable.js"
import { holdersRepo, type PersonRow, type PlaceRuleRow } from "./HoldersRepo.js"
import { grantOf as ruleGrantOf } from "./Repo.js"
import { earlier } from "./Subjects.js"

/** How many people, or accounts, one step reads. */
const atOnce = 50
/** How many people one page looks at: in a large organization, few may have the permission. */
const lookedAt = 2_000

type HolderPlace = Place<"access.list" | "access.review">

export interface Holder extends Omit<AccessHolder, "last_used_at" | "usage"> {
  /** Since when the rule or role has given the permission. */
  readonly heldSince?: string
  /** The last call of a service account. */
  readonly calledAt?: string | null
}

/** A step of the walk: the holders that it found, and where the next begins; null at the end of the kind. */
interface Step {
  readonly holders: ReadonlyArray<Holder>
  readonly looked: number
  readonly next: string | null
}

const byEnd = Order.mapInput(Order.string, ({ expires_at = "~" }: Reason) => expires_at)
const byPermission = Order.mapInput(Order.number, ({ permission }: Reason) => permissions.indexOf(permission))
const isShorter = Order.lessThan(Order.combine(byEnd, byPermission))

/** The first of the reasons for a permission that last longest; superadmins and roles come before rules. */
const lasting = (reasons: ReadonlyArray<Reason>, wanted: Permission): Reason | undefined =>
  reasons
    .filter(({ denies }) => denies !== true)
    .filter(({ permission }) => permissions.indexOf(permission) >= permissions.indexOf(wanted))
    .reduce<Reason | undefined>(
      (best, reason) => (best === undefined || isShorter(best, reason) ? reason : best),
      undefined
    )

const grantOf = ({ group, updated_at: _, ...rule }: PlaceRuleRow): Grant => ({
  ...ruleGrantOf(rule),
  ...(group !== null && { group })
})

/** The rules that match a place, by their subjects. */
const bySubject = (rules: ReadonlyArray<PlaceRuleRow>): ReadonlyMap<string, ReadonlyArray<Grant>> => {
  const found = new Map<string, Array<Grant>>()
  for (const rule of rules) {
    const grants = found.get(rule.subject_id)
    if (grants === undefined) found.set(rule.subject_id, [grantOf(rule)])
    else grants.push(grantOf(rule))
  }
  return found
}

/** Those of some ids behind another one, in order. */
const behind = (ids: Iterable<string>, after: string): ReadonlyArray<string> =>
  [...ids].filter((id) => id > after).sort()

/** Makes the walk over those who have a permission in an environment: groups, then service accounts, then people. */
export const makeHolderWalk = Effect.gen(function* () {
  const repo = yield* holdersRepo
  const { maxMillis } = delegationLimit(yield* ServerConfig)

  /** The rules that are about a place. An organization may have many, and each is matched. */
  const rulesAt = Effect.fnUntraced(function* ({ env, org, project }: HolderPlace) {
    const matches = ruleMatcherOf({ org: org.name, project: project.name, env: env.name })
    const rows = yield* repo.rules(org.id, project.name)
    const found = yield* mapInSlices(rows, (row) => (matches(grantOf(row)) ? [row] : []))
    const ofKind = (kind: PlaceRuleRow["subject_type"]) =>
      bySubject(found.flat().filter(({ subject_type }) => subject_type === kind))
    /** When a rule was granted, or last changed. */
    const grantedAt = new Map(found.flat().map(({ id, updated_at }) => [id, updated_at]))
    return { user: ofKind("user"), service_account: ofKind("service_account"), group: ofKind("group"), grantedAt }
  })
  type Rules = Effect.Effect.Success<ReturnType<typeof rulesAt>>

  /** Makes the walk over those who have a permission at a place. */
  const walkAt = (place: HolderPlace, rules: Rules, wanted: Permission, key: SecretKey | undefined) => {
    const orgId = place.org.id
    const names = { org: place.org.name, project: place.project.name, env: place.env.name }

    /** The rights of a subject here; null without the permission. */
    const rightsOf = (subject: Subject) => {
      const { allowed, allowed_for_some, because } = explain(subject, names, key)
      const held = permissions.filter((one) => allowed.includes(one) || allowed_for_some.includes(one))
      const highest = held.at(-1)
      const reason = lasting(because, wanted)
      return highest === undefined || reason === undefined || !held.includes(wanted)
        ? null
        : {
            permission: highest,
            ...(!allowed.includes(highest) && { for_some: true }),
            because: reasonOf(subject, reason, because)
          }
    }

    /** Since when the reason for a permission holds; from the beginning, unless it is a rule. */
    const heldSince = ({ because }: Pick<Holder, "because">, ...others: ReadonlyArray<string>): string =>
      [rules.grantedAt.get(because.rule_id ?? "") ?? "", ...others].reduce((one, other) => (one > other ? one : other))

    const groups = (after: string): Effect.Effect<Step> =>
      Effect.sync(() => {
        const holders = behind(rules.group.keys(), after).flatMap((id): ReadonlyArray<Holder> => {
          const grants = rules.group.get(id) ?? []
          const group = grants[0]?.group
          // A group gives rules, never a role: the roles of its members limit each of them.
          const rights = rightsOf({ superadmin: false, role: "developer", account: null, grants })
          return rights === null || group === undefined
            ? []
            : [{ kind: "group", id: GroupId.make(id), group, ...rights }]
        })
        return { holders, looked: 0, next: null }
      })

    const accounts = Effect.fnUntraced(function* (after: string): Effect.fn.Return<Step> {
      const ids = behind(rules.service_account.keys(), after)
      const some = ids.slice(0, atOnce)
      const rows = some.length === 0 ? [] : yield* repo.accounts(orgId, some)
      const holders = rows.flatMap(({ id, last_used_at, name, project_id, reveal }): ReadonlyArray<Holder> => {
        if (project_id !== null && project_id !== place.project.id) return []
        const rights = rightsOf({
          superadmin: false,
          role: null,
          account: { scoped: project_id !== null, reveal: reveal === 1 },
          grants: rules.service_account.get(id) ?? []
        })
        return rights === null
          ? []
          : [{ kind: "service_account", id, name, heldSince: heldSince(rights), calledAt: last_used_at, ...rights }]
      })
      return { holders, looked: some.length, next: ids.length > atOnce ? (some.at(-1) ?? null) : null }
    })

    /** The rules that some people have by their groups, each until the membership or the rule ends. */
    const groupGrants = Effect.fnUntraced(function* (people: ReadonlyArray<PersonRow>) {
      const found = new Map<string, Array<Grant>>()
      const joinedAt = new Map<string, string>()
      if (rules.group.size === 0) return { found, joinedAt }
      const accepted = new Set<string>(people.flatMap(({ accepted_at, id }) => (accepted_at === null ? [] : [id])))
      const rows = yield* repo.memberships(
        orgId,
        people.map(({ id }) => id)
      )
      for (const { group_id, joined_at, member_until, user_id } of rows) {
        // A group that a login brought is the business of an organization once the person has accepted the membership.
        if (member_until !== null && !accepted.has(user_id)) continue
        const grants = (rules.group.get(group_id) ?? []).map(({ expires_at = null, ...grant }) => ({
          ...grant,
          expires_at: earlier(expires_at, member_until)
        }))
        found.set(user_id, [...(found.get(user_id) ?? []), ...grants])
        if (joined_at !== null) for (const { id } of grants) joinedAt.set(`${user_id} ${id}`, joined_at)
      }
      return { found, joinedAt }
    })

    /** The delegations of some people that have the permission here, by their people. */
    const delegationsOf = Effect.fnUntraced(function* (subjects: ReadonlyMap<string, Subject>) {
      const found = new Map<string, Array<HolderDelegation>>()
      if (subjects.size === 0 || wanted === "admin") return found
      for (const row of yield* repo.delegations(orgId, [...subjects.keys()], maxMillis)) {
        const person = subjects.get(row.user_id)
        const keys = keysIn(row.keys)
        const isHere = row.places.some(({ env }) => env.id === place.env.id)
        if (person === undefined || !isHere || (key !== undefined && keys !== null && !keys.has(key))) continue
        const delegation: Delegated = {
          id: row.id,
          name: row.name,
          org: { id: row.org_id, name: row.org },
          places: row.places,
          permission: row.permission,
          reveal: row.reveal === 1,
          keys,
          isConnected: false,
          ofSuperadmin: person.superadmin,
          createdAt: timestamp(row.created_at),
          expiresAt: timestamp(row.ends_at)
        }
        const rights = rightsOf({ ...person, delegation })
        if (rights === null) continue
        const { expires_at = delegation.expiresAt, limited_by } = rights.because
        found.set(row.user_id, [
          ...(found.get(row.user_id) ?? []),
          {
            id: row.id,
            name: row.name,
            permission: rights.permission,
            ...(keys !== null && { keys: [...keys] }),
            ...(limited_by !== undefined && { limited_by }),
            expires_at: expires_at < delegation.expiresAt ? expires_at : delegation.expiresAt,
            last_used_at: row.last_used_at
          }
        ])
      }
      return found
    })

    const people = Effect.fnUntraced(function* (after: string): Effect.fn.Return<Step> {
      const rows = yield* repo.people({ orgId, after, limit: atOnce })
      const { found: ofGroups, joinedAt } = yield* groupGrants(rows)
      const subjects = new Map<string, Subject>()
      const found = rows.flatMap((row): ReadonlyArray<Holder> => {
        const { accepted_at, email, id, role, superadmin, updated_at } = row
        const grants = [...(rules.user.get(id) ?? []), ...(ofGroups.get(id) ?? [])]
        const subject = { superadmin: superadmin === 1, role, account: null, grants }
        const rights = rightsOf(subject)
        if (rights === null) return []
        subjects.set(id, subject)
        const invited = accepted_at === null && { invited: true }
        const joined = joinedAt.get(`${id} ${rights.because.rule_id ?? ""}`) ?? ""
        return [{ kind: "user", id, email, ...invited, heldSince: heldSince(rights, updated_at, joined), ...rights }]
      })
      const delegations = yield* delegationsOf(subjects)
      const holders = found.map((holder) => {
        const own = delegations.get(holder.id)
        return own === undefined ? holder : { ...holder, delegations: own }
      })
      return { holders, looked: rows.length, next: rows.length < atOnce ? null : (rows.at(-1)?.id ?? null) }
    })

    const steps = { group: groups, service_account: accounts, user: people } as const

    /** Up to `enough` holders behind a position, and where the next page begins; null at the end. */
    return Effect.fnUntraced(function* (start: HolderPosition, enough: number) {
      const found: Array<Holder> = []
      const pace = pacing()
      let looked = 0
      let position: HolderPosition | null = start
      while (position !== null && found.length < enough && looked < lookedAt) {
        const { id, kind }: HolderPosition = position
        const step: Step = yield* steps[kind](id)
        const more = step.holders.slice(0, enough - found.length)
        found.push(...more)
        looked += step.looked
        const last = more.at(-1)
        const following: HolderKind | undefined = holderKinds[holderKinds.indexOf(kind) + 1]
        position =
          more.length < step.holders.length && last !== undefined
            ? { kind, id: last.id }
            : step.next !== null
              ? { kind, id: step.next }
              : following === undefined
                ? null
                : { kind: following, id: "" }
        yield* pace
      }
      return { found, position }
    })
  }

  return Effect.fnUntraced(function* (place: HolderPlace, wanted: Permission, key: SecretKey | undefined) {
    return walkAt(place, yield* rulesAt(place), wanted, key)
  })
})
