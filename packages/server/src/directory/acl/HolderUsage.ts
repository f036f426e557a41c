import type { Usage } from "@coffer/domain/base/Usage"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { makeRecentUses, usedSince } from "../../audit/RecentUses.js"
import { ruleUsageRepo } from "./RuleUsageRepo.js"

/** Someone who has a permission in an environment. */
export interface HeldRight {
  readonly id: string
  /** Since when the rule or role has given it. */
  readonly heldSince: string
  /** The last call of a service account, wherever. */
  readonly calledAt?: string | null
  /** The last use that the log has. */
  readonly usedAt: string | undefined
}

/** Tells which rights in an environment were not used lately. */
export const makeHolderUsage = Effect.gen(function* () {
  const recent = yield* makeRecentUses
  const repo = yield* ruleUsageRepo

  /** The marks by the ids of those who have the rights. A right that is new is not marked. */
  return Effect.fnUntraced(function* (
    { org, project }: Pick<Place<"access.list">, "org" | "project">,
    rights: ReadonlyArray<HeldRight>
  ) {
    const marks = new Map<string, Usage>()
    const since = yield* usedSince
    const old = rights.filter(({ heldSince, usedAt = "" }) => heldSince < since && usedAt < since)
    if (old.length === 0) return marks
    const { reaches } = yield* recent.window(org.id)
    const isRenamed = (yield* repo.renamed({ orgId: org.id, since })).some(({ name }) => name === project.name)
    for (const { calledAt = null, id, usedAt } of old) {
      // A program that polls unchanged secrets leaves no entry.
      const mayPoll = usedAt !== undefined && calledAt !== null && calledAt >= since
      marks.set(id, reaches && !isRenamed && !mayPoll ? "unused" : "unknown")
    }
    return marks
  })
})
