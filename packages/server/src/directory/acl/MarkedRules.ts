import type { AclRule } from "@coffer/domain/access/AclRule"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { Acl } from "./Acl.js"
import { makeRuleUsage } from "./RuleUsage.js"

/** The access rules of an organization, with the marks of those that were not used lately. */
export class MarkedRules extends Effect.Service<MarkedRules>()("@coffer/server/MarkedRules", {
  effect: Effect.gen(function* () {
    const acl = yield* Acl
    const usageOf = yield* makeRuleUsage

    const list = method("MarkedRules.list", function* (place: Place<"acl.list">) {
      const rules = yield* acl.list(place)
      const marks = yield* usageOf(place.org.id, rules)
      return yield* mapInSlices(rules, (rule): AclRule => {
        const usage = marks.get(rule.id)
        return usage === undefined ? rule : { ...rule, usage }
      })
    })

    return { list } as const
  }),
  dependencies: [Acl.Default, AuditIndex.Default]
}) {}
