import type { AclRule } from "@coffer/domain/access/AclRule"
import type { OrgId } from "@coffer/domain/base/Ids"
import type { ServiceAccountName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { usedSince } from "../../audit/RecentUses.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { aclRule } from "../acl/Acl.js"
import { aclRepo } from "../acl/Repo.js"
import { makeRuleUsage } from "../acl/RuleUsage.js"
import { serviceAccountsRepo } from "../service-accounts/Repo.js"
import { isUnusedSince } from "../service-accounts/ServiceAccounts.js"

/** The rules and service accounts of an organization that nobody used. */
export interface UnusedAccess {
  readonly rules: ReadonlyArray<AclRule>
  readonly accounts: ReadonlyArray<ServiceAccountName>
}

/** Finds what the lists mark as unused. What the log cannot tell is left out. */
export const makeUnusedAccess = Effect.gen(function* () {
  const rulesRepo = yield* aclRepo
  const accountsRepo = yield* serviceAccountsRepo
  const usageOf = yield* makeRuleUsage

  return Effect.fnUntraced(function* (orgId: OrgId) {
    const rules = yield* mapInSlices(yield* rulesRepo.all(orgId), aclRule)
    const marks = yield* usageOf(orgId, rules)
    const since = yield* usedSince
    const accounts = yield* mapInSlices(yield* accountsRepo.all(orgId), (row) =>
      isUnusedSince(row, since) ? [row.name] : []
    )
    const found: UnusedAccess = {
      rules: rules.filter(({ id }) => marks.get(id) === "unused"),
      accounts: accounts.flat()
    }
    return found
  })
})
