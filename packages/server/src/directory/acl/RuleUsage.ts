import { type AclRule, permissions } from "@coffer/domain/access/AclRule"
import type { Usage } from "@coffer/domain/base/Usage"
import type { OrgId } from "@coffer/domain/base/Ids"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { ruleMatcherOf, type RulePatterns } from "../../access/place/Decisions.js"
import { makeRecentUses, type UseWindow } from "../../audit/RecentUses.js"
import { rankOf } from "../../audit/UseActions.js"
import { mapInSlices, pacing } from "../../base/EventLoop.js"
import { environmentsRepo, type PlacedEnvironment } from "../environments/Repo.js"
import { ruleUsageRepo } from "./RuleUsageRepo.js"

const environmentsAtOnce = 100
const peopleAtOnce = 50

/** An environment in which somebody did something, and the rank of the lowest permission that this needed. */
interface Used {
  readonly matches: (rule: RulePatterns) => boolean
  readonly rank: number
}

/** By places. */
type Places = Map<string, Used>
/** By subjects. */
type Uses = Map<string, Places>

const note = (uses: Uses, subject: string, place: string, used: Used): void => {
  const places = uses.get(subject) ?? new Map<string, Used>()
  uses.set(subject, places)
  const before = places.get(place)
  if (before === undefined || used.rank < before.rank) places.set(place, used)
}

const isAmong = (places: Places | undefined, rule: AclRule): boolean => {
  const highest = permissions.findIndex((permission) => permission === rule.permission)
  for (const { matches, rank } of places?.values() ?? []) if (rank <= highest && matches(rule)) return true
  return false
}

const matcherOf = ({ env, project }: Pick<PlacedEnvironment, "env" | "project">) =>
  ruleMatcherOf({ org: "", project, env })

/** Tells which rules of an organization were not used lately. */
export const makeRuleUsage = Effect.gen(function* () {
  const recent = yield* makeRecentUses
  const environments = yield* environmentsRepo
  const repo = yield* ruleUsageRepo

  /** The environments of an organization as they are named now, with what was done there. */
  const readUses = Effect.fnUntraced(function* (orgId: OrgId, window: UseWindow) {
    const [lately, readBefore, ofRenamed]: readonly [Uses, Uses, Places] = [new Map(), new Map(), new Map()]
    const renamed = new Set((yield* repo.renamed({ orgId, since: window.since })).map(({ name }): string => name))
    let position: { readonly project: string; readonly env: string } | undefined = { project: "", env: "" }
    while (position !== undefined) {
      const rows: ReadonlyArray<PlacedEnvironment> = yield* environments.ofOrg({
        ...position,
        ...{ orgId, onlyId: null, limit: environmentsAtOnce + 1 }
      })
      const places = rows.slice(0, environmentsAtOnce)
      const matchers = new Map(places.map((place) => [`${place.project}/${place.env}`, matcherOf(place)]))
      for (const place of places) {
        const used = { matches: matcherOf(place), rank: 0 }
        if (renamed.has(place.project)) ofRenamed.set(`${place.project}/${place.env}`, used)
      }
      yield* mapInSlices(yield* recent.at(window, places), ({ action, actor_id, env, is_recent, project }) => {
        const place = `${project}/${env}`
        const matches = matchers.get(place)
        const uses = is_recent === 1 ? lately : action === "secret.read" ? readBefore : undefined
        if (matches !== undefined && uses !== undefined) note(uses, actor_id, place, { matches, rank: rankOf(action) })
      })
      position = rows[environmentsAtOnce]
    }
    return { lately, readBefore, ofRenamed }
  })

  /** Adds what the members of groups did, as that of their groups. */
  const addGroups = Effect.fnUntraced(function* (orgId: OrgId, lately: Uses) {
    const pace = pacing()
    for (const people of Array.chunksOf([...lately.keys()], peopleAtOnce)) {
      for (const { group_id, user_id } of yield* repo.memberships(orgId, people)) {
        for (const [place, used] of lately.get(user_id) ?? []) note(lately, group_id, place, used)
      }
      yield* pace
    }
  })

  /** The marks of rules, by their ids. A rule that denies has no use, and one that is new is not marked. */
  return Effect.fnUntraced(function* (orgId: OrgId, rules: ReadonlyArray<AclRule>) {
    const marks = new Map<string, Usage>()
    const window = yield* recent.window(orgId)
    const old = rules.filter(({ denies, updated_at }) => denies !== true && updated_at < window.since)
    if (old.length === 0) return marks
    const { lately, ofRenamed, readBefore } = yield* readUses(orgId, window)
    if (old.some(({ subject_type }) => subject_type === "group")) yield* addGroups(orgId, lately)
    const active = new Set((yield* repo.activeAccounts({ orgId, since: window.since })).map(({ id }): string => id))

    /** Whether the log has too little to call a rule unused. A program that polls unchanged secrets leaves no entry. */
    const isUnknown = (rule: AclRule): boolean =>
      !window.reaches ||
      isAmong(ofRenamed, rule) ||
      (active.has(rule.subject_id) && isAmong(readBefore.get(rule.subject_id), rule))

    yield* mapInSlices(old, (rule) => {
      if (!isAmong(lately.get(rule.subject_id), rule)) marks.set(rule.id, isUnknown(rule) ? "unknown" : "unused")
    })
    return marks
  })
})
