import { idOf } from "../../grammar/IdKinds.js"
import { type AclExplanation, type AclRule, Permission } from "@coffer/domain/access/AclRule"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { RuleId } from "@coffer/domain/base/Ids"
import { Pattern } from "@coffer/domain/base/Pattern"
import * as Effect from "effect/Effect"
import { NotThere } from "../../base/Failures.js"
import { atEnv, atOrg, type Call, group, wide, yes } from "../../grammar/Command.js"
import { option, optionalArgument, requiredOption } from "../../grammar/Fields.js"
import { completedBy } from "../../grammar/Specs.js"
import { nearest } from "../../grammar/Words.js"
import {
  email,
  groupOption,
  type RuleSubject,
  ruleSubjectOf,
  serviceAccount,
  subjectOf
} from "../../subjects/Subjects.js"
import { note, printLine } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView, printView } from "../../terminal/View.js"
import { table } from "./AccessTable.js"
import { noteUnmatched } from "./UnmatchedPatterns.js"
import { endOf, Expires, until } from "./Expires.js"

const subject = (rule: AclRule) =>
  rule.group === undefined ? (rule.email ?? rule.name ?? rule.subject_id) : `group ${rule.group}`

const columns = {
  id: (rule: AclRule) => rule.id,
  subject,
  project: (rule: AclRule) => rule.project_pattern,
  env: (rule: AclRule) => rule.env_pattern,
  permission: (rule: AclRule) => rule.permission,
  expires: (rule: AclRule) => rule.expires_at,
  "granted by": (rule: AclRule) => rule.created_by
}

const list = atOrg("list", {
  description: "List the access rules",
  examples: ["coffer acl list", "coffer acl list --json"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      call("acl", (api) => api.list({ path })),
      (rules) =>
        listView(rules, columns, "there are no access rules; make one with: coffer acl grant", [
          "subject",
          "project",
          "env",
          "permission",
          "expires"
        ])
    )
})

const about = (what: string) => `Which ${what} it is about: a name, or a pattern such as web-* or {dev,staging}`

const grant = atOrg("grant", {
  description: "Grant a permission, or change the one that the subject has for these patterns, and when it ends",
  examples: [
    "coffer acl grant --email grace@example.com --project-pattern webshop --env-pattern prod --permission read --expires 4h",
    "coffer acl grant --email grace@example.com --project-pattern webshop --env-pattern '{dev,staging}' --permission write",
    "coffer acl grant --service-account ci --project-pattern webshop --env-pattern prod --permission read",
    "coffer acl grant --group backend --project-pattern webshop --env-pattern dev --permission write"
  ],
  options: {
    email,
    serviceAccount,
    group: groupOption,
    projectPattern: completedBy("project", requiredOption("project-pattern", Pattern, about("projects"))),
    envPattern: requiredOption("env-pattern", Pattern, about("environments")),
    permission: requiredOption(
      "permission",
      Permission,
      "use values without seeing them, read them, write them too, or admin: manage rules too"
    ),
    expires: option("expires", Expires)
  },
  run: ({ call, exchange, options, path }) =>
    Effect.gen(function* () {
      const named = yield* ruleSubjectOf(call, path, options)
      const granted = {
        project_pattern: options.projectPattern,
        env_pattern: options.envPattern,
        permission: options.permission,
        ...(options.expires !== undefined && { expires_at: yield* endOf(options.expires) })
      }
      const rule = yield* call("acl", (api) =>
        named.subject_type === "user"
          ? api.grant({ path, payload: { ...named, ...granted } })
          : named.subject_type === "group"
            ? api.grant({ path, payload: { ...named, ...granted } })
            : api.grant({ path, payload: { ...named, ...granted } })
      )
      yield* noteUnmatched(exchange, path.org_name, [{ project: options.projectPattern, env: options.envPattern }])
      const place = `${rule.project_pattern}/${rule.env_pattern}`
      return doneView(
        `${subject(rule)} has the permission ${rule.permission} for ${place}${until(rule)} (rule ${rule.id})`,
        rule
      )
    })
})

interface RuleFilter {
  readonly projectPattern: Pattern | undefined
  readonly envPattern: Pattern | undefined
}

/** The rules about a subject, of these patterns. */
const rulesAbout = Effect.fnUntraced(function* (call: Call, path: OrgPath, named: RuleSubject, filter: RuleFilter) {
  const { data } = yield* call("acl", (api) => api.list({ path }))
  const rules = data.filter(
    (rule) =>
      (named.subject_type === "user"
        ? rule.email === named.email
        : named.subject_type === "group"
          ? rule.group === named.group
          : rule.subject_id === named.subject_id) &&
      (filter.projectPattern === undefined || rule.project_pattern === filter.projectPattern) &&
      (filter.envPattern === undefined || rule.env_pattern === filter.envPattern)
  )
  if (rules.length > 0) return rules
  const meant = (pattern: string | undefined, patterns: ReadonlyArray<string>) =>
    pattern === undefined || patterns.includes(pattern) ? undefined : nearest(patterns, pattern)
  const name =
    meant(
      filter.projectPattern,
      data.map((rule) => rule.project_pattern)
    ) ??
    meant(
      filter.envPattern,
      data.map((rule) => rule.env_pattern)
    )
  const question = name === undefined ? ";" : `; did you mean ${name}?`
  return yield* new NotThere({ message: `no access rule is about that${question} coffer acl list shows what there is` })
})

const sentence = (rule: AclRule) =>
  `${rule.permission} of ${subject(rule)} for ${rule.project_pattern}/${rule.env_pattern} (rule ${rule.id})`

const revoke = atOrg("revoke", {
  description: "Revoke one rule by its id, or every rule about a subject",
  examples: [
    "coffer acl revoke 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90",
    "coffer acl revoke --email grace@example.com --env-pattern prod"
  ],
  options: {
    ruleId: completedBy(
      "rule",
      optionalArgument("RULE_ID", idOf(RuleId), "The rule's id, as coffer acl list shows it")
    ),
    email,
    serviceAccount,
    group: groupOption,
    projectPattern: completedBy("project", option("project-pattern", Pattern, about("projects"))),
    envPattern: option("env-pattern", Pattern, about("environments")),
    yes
  },
  check: ({ email, envPattern, group, projectPattern, ruleId, serviceAccount }) =>
    (ruleId !== undefined) ===
    [email, serviceAccount, group, projectPattern, envPattern].some((one) => one !== undefined)
      ? "name either a rule by its id, or a subject by --email, --service-account or --group: coffer acl list shows them"
      : undefined,
  run: ({ call, json, options, path }) =>
    Effect.gen(function* () {
      if (options.ruleId !== undefined) {
        const rule_id = options.ruleId
        yield* confirm(`Revoke the access rule ${rule_id} of ${path.org_name}?`, options.yes)
        yield* call("acl", (api) => api.revoke({ path: { ...path, rule_id } }))
        return doneView(`rule ${rule_id} revoked`)
      }
      const rules = yield* rulesAbout(call, path, yield* ruleSubjectOf(call, path, options), options)
      if (!options.yes) yield* Effect.forEach(rules, (rule) => note(`would revoke ${sentence(rule)}`))
      yield* confirm(`Revoke ${rules.length === 1 ? "this rule" : `these ${rules.length} rules`}?`, options.yes)
      for (const rule of rules) {
        // One that somebody else has revoked meanwhile is gone, as it should be.
        yield* call("acl", (api) => api.revoke({ path: { ...path, rule_id: rule.id } })).pipe(
          Effect.catchTag("NotFound", () => Effect.void)
        )
        yield* printView(doneView(`revoked ${sentence(rule)}`), json)
      }
      return undefined
    })
})

const because = (reason: AclExplanation["because"][number]) =>
  [
    reason.by === "role"
      ? `the role ${reason.role ?? "?"} gives ${reason.permission}`
      : reason.by === "rule"
        ? `the rule ${reason.rule_id ?? "?"}${reason.group === undefined ? "" : ` of the group ${reason.group}`} gives ${reason.permission}${until(reason)}`
        : `${reason.by} gives ${reason.permission}`,
    ...(reason.limited_by === undefined ? [] : [`limited by ${reason.limited_by}`])
  ].join(", ")

const explain = atEnv("explain", {
  description: "What a subject may do in an environment, and which role or rule says so",
  examples: ["coffer acl explain --email grace@example.com --project webshop --env prod"],
  options: { email, serviceAccount },
  run: ({ call, options, path: { env_name, org_name, project_name } }) =>
    Effect.gen(function* () {
      const path = { org_name }
      const named = yield* subjectOf(call, path, options)
      const urlParams = { ...named, project: project_name, env: env_name }
      const explanation = yield* call("acl", (api) => api.explain({ path, urlParams }))
      const allowed = explanation.allowed.length === 0 ? "nothing" : explanation.allowed.join(", ")
      const reasons = explanation.because.map(because)
      const lines = [
        `allowed in ${project_name}/${env_name}: ${allowed}`,
        ...(reasons.length === 0 ? ["no role and no rule says otherwise"] : reasons),
        ...(explanation.via === undefined ? [] : [`signed in by ${explanation.via}`])
      ]
      return { json: explanation, text: Effect.forEach(lines, printLine, { discard: true }) }
    })
})

export const aclCommand = group("acl", "Access rules: who may read and write which environments", [
  list,
  grant,
  revoke,
  explain,
  table
])
