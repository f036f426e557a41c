import type { EnvironmentAccess } from "@coffer/domain/access/AccessTable"
import type { Usage } from "@coffer/domain/base/Usage"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { makeRecentUses } from "../../audit/RecentUses.js"
import { ruleUsageRepo } from "./RuleUsageRepo.js"

const nameOf = ({ env, project }: { readonly env: string; readonly project: string }): string => `${project}/${env}`

/** Tells in which environments a subject did not use lately what a rule gives. */
export const makeAccessUsage = Effect.gen(function* () {
  const recent = yield* makeRecentUses
  const repo = yield* ruleUsageRepo

  /** The marks of some environments; null without one. */
  return Effect.fnUntraced(function* (
    { org }: Pick<Place<"acl.explain">, "org">,
    subjectId: string,
    found: ReadonlyArray<EnvironmentAccess>
  ): Effect.fn.Return<ReadonlyArray<Usage | null>> {
    const rules = [
      ...new Set(
        found.flatMap(({ because }): ReadonlyArray<string> => (because?.rule_id === undefined ? [] : [because.rule_id]))
      )
    ]
    if (rules.length === 0) return []
    const window = yield* recent.window(org.id)
    const { since } = window
    const old = new Set<string>()
    for (const { held_since, id } of yield* repo.heldSince(org.id, subjectId, rules)) {
      if (held_since < since) old.add(id)
    }
    const isOld = ({ because, permission, permission_for_some }: EnvironmentAccess): boolean =>
      (permission !== null || permission_for_some !== undefined) && old.has(because?.rule_id ?? "")
    const places = found.filter(isOld)
    if (places.length === 0) return []
    const [lately, readBefore] = [new Set<string>(), new Set<string>()]
    for (const row of yield* recent.at(window, places, subjectId)) {
      if (row.is_recent === 1) lately.add(nameOf(row))
      else if (row.action === "secret.read") readBefore.add(nameOf(row))
    }
    const renamed = new Set((yield* repo.renamed({ orgId: org.id, since })).map(({ name }): string => name))
    const isActive = (yield* repo.activeAccounts({ orgId: org.id, since })).some(({ id }) => id === subjectId)
    return found.map((access) => {
      const name = nameOf(access)
      if (!isOld(access) || lately.has(name)) return null
      // A program that polls unchanged secrets leaves no entry.
      const mayPoll = isActive && readBefore.has(name)
      return window.reaches && !renamed.has(access.project) && !mayPoll ? "unused" : "unknown"
    })
  })
})
