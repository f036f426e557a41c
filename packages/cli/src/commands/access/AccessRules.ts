import { momentCell } from "../../base/Moments.js"
import { idOf, isShortId } from "../../grammar/IdKinds.js"
import type { AclExplanation, AclRule } from "@coffer/domain/access/AclRule"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { defined } from "@coffer/domain/base/Defined"
import { RuleId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { allKeys, fitsAllKeys, KeyPattern } from "@coffer/domain/secrets/KeyPatterns"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { NotThere } from "../../base/Failures.js"
import { atEnv, atOrg, type Call, group, wide, yes } from "../../grammar/Command.js"
import { argument, option, optionalArgument } from "../../grammar/Fields.js"
import { patternPlace, type PlaceOf } from "../../grammar/PlaceArguments.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { type Codec, completedBy, orOld } from "../../grammar/Specs.js"
import { nearest } from "../../grammar/Words.js"
import { type RuleSubject, ruleSubjectOf, subjectOf } from "../../subjects/Subjects.js"
import { isWho, oldWho, oneWho, personOrAccount, type Who, who, whoForm } from "../../subjects/Who.js"
import { note, printLine } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView, printView } from "../../terminal/View.js"
import { table } from "./AccessTable.js"
import { review, who as whoCan } from "./AccessHolders.js"
import { until } from "./Expires.js"
import { deny, grant, oldPatterns } from "./Granting.js"
import { forKeys, permissionText, ruleSubject } from "./RuleText.js"
import { usageColumn } from "./UsageText.js"

const columns = {
  id: (rule: AclRule) => rule.id,
  subject: ruleSubject,
  project: (rule: AclRule) => rule.project_pattern,
  env: (rule: AclRule) => rule.env_pattern,
  permission: permissionText,
  expires: (rule: AclRule) => momentCell(rule.expires_at),
  "granted by": (rule: AclRule) => rule.created_by
}

/** With the columns that only some lists need. Programs find the others where they were. */
const columnsOf = (rules: ReadonlyArray<AclRule>) => ({
  ...columns,
  ...(rules.some(({ key_pattern }) => key_pattern !== undefined) && {
    keys: (rule: AclRule) => rule.key_pattern ?? "all"
  }),
  ...usageColumn(rules)
})

const list = atOrg("list", {
  description: "List the access rules",
  examples: ["coffer acl list", "coffer acl list --json"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      call("acl", (api) => api.list({ path })),
      (rules) =>
        listView(
          rules,
          columnsOf(rules.data),
          "there are no access rules; make one with: coffer acl grant",
          ["subject", "project", "env", "permission", "keys", "usage", "expires"],
          "revoke one with: coffer acl revoke ID"
        )
    )
})

const { decode: decodeRuleId } = idOf(RuleId)

/** A rule by its id, or a subject. */
const ruleOrWho: Codec<RuleId | Who> = {
  ...who,
  decode: (name, text) =>
    isWho(text)
      ? who.decode(name, text)
      : Either.mapLeft(
          decodeRuleId(name, text),
          () => `${name} must be the id of a rule, or its first characters, at least 4, or ${whoForm}`
        )
}

/** Chooses rules by their patterns; null for any. A denial is chosen by its keys alone: without it, others give more. */
interface RuleFilter {
  readonly project: Pattern | null
  readonly env: Pattern | null
  readonly key: string | undefined
}

const hasKeys = ({ denies = false, key_pattern = allKeys }: AclRule, key: string | undefined): boolean =>
  key === undefined ? !denies : key_pattern === (fitsAllKeys(key) ? allKeys : key)

/** The rules about a subject, of these patterns. */
const rulesAbout = Effect.fnUntraced(function* (call: Call, path: OrgPath, named: RuleSubject, filter: RuleFilter) {
  const { env, key, project } = filter
  const { data } = yield* call("acl", (api) => api.list({ path }))
  const ofPlace = data.filter(
    (rule) =>
      (named.subject_type === "user"
        ? rule.email === named.email
        : named.subject_type === "group"
          ? rule.group === named.group
          : rule.subject_id === named.subject_id) &&
      (project === null || rule.project_pattern === project) &&
      (env === null || rule.env_pattern === env)
  )
  const rules = ofPlace.filter((rule) => hasKeys(rule, key))
  if (rules.length > 0) return rules
  const [other] = ofPlace
  if (other !== undefined) {
    return yield* new NotThere({
      message: `the rules about that are for other keys, or deny: revoke one by --key '${other.key_pattern ?? allKeys}' or by its id; coffer acl list shows them`
    })
  }
  const meant = (pattern: string | null, patterns: ReadonlyArray<string>) =>
    pattern === null || patterns.includes(pattern) ? undefined : nearest(patterns, pattern)
  const name =
    meant(
      project,
      data.map((rule) => rule.project_pattern)
    ) ??
    meant(
      env,
      data.map((rule) => rule.env_pattern)
    )
  const question = name === undefined ? ";" : `; did you mean ${name}?`
  return yield* new NotThere({ message: `no access rule is about that${question} coffer acl list shows what there is` })
})

const sentence = (rule: AclRule) =>
  `${rule.denies === true ? "the denial of " : ""}${rule.permission} of ${ruleSubject(rule)} for ${rule.project_pattern}/${rule.env_pattern}${forKeys(rule)} (rule ${rule.id})`

/** The place of rules: by an old option alone, a part can be null for any. */
const rulePlaces: Codec<PlaceOf<Pattern | null, Pattern | null>> = patternPlace

const revoke = atOrg("revoke", {
  description: "Revoke one rule by its id, or every rule that gives something to a subject",
  examples: [
    "coffer acl revoke 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90",
    "coffer acl revoke grace@example.com webshop/prod",
    "coffer acl revoke grace@example.com webshop/prod --key 'DB_*'"
  ],
  options: {
    about: orOld(
      completedBy(
        "rule-or-who",
        argument("RULE_ID|WHO", ruleOrWho, `A rule by its id, as coffer acl list shows it, or all of WHO: ${whoForm}`)
      ),
      oldWho,
      oneWho
    ),
    place: orOld(
      completedBy("env-path", optionalArgument("PLACE", rulePlaces, "Only the rule of exactly this place")),
      oldPatterns,
      ({ env = null, project = null }) => Either.right({ env, project, org: undefined })
    ),
    key: option("key", KeyPattern, "Only rules for exactly these keys, also one that denies"),
    yes
  },
  place: ({ place }) => defined({ org: place?.org }),
  check: ({ about, key, place }) => {
    if (typeof about === "string") {
      return place === undefined && key === undefined
        ? undefined
        : "a rule is named by its id alone: leave PLACE and --key out"
    }
    return place?.project === undefined && typeof place?.env === "string" && !isShortId(place.env)
      ? "name either a rule by its id, or a subject: coffer acl list shows them"
      : undefined
  },
  run: ({ call, json, options: { about, key, place, yes }, path, settings }) =>
    Effect.gen(function* () {
      if (typeof about === "string") {
        yield* confirm(`Revoke the access rule ${about} of ${path.org_name}?`, yes)
        yield* call("acl", (api) => api.revoke({ path: { ...path, rule_id: about } }))
        return doneView(`rule ${about} revoked`)
      }
      const { env, project = Pattern.to.make(yield* settings.project) } = place ?? { env: null, project: null }
      const rules = yield* rulesAbout(call, path, yield* ruleSubjectOf(call, path, about), { env, key, project })
      if (!yes) yield* Effect.forEach(rules, (rule) => note(`would revoke ${sentence(rule)}`))
      yield* confirm(`Revoke ${rules.length === 1 ? "this rule" : `these ${rules.length} rules`}?`, yes)
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
        ? `the rule ${reason.rule_id ?? "?"}${reason.group === undefined ? "" : ` of the group ${reason.group}`} ${reason.denies === true ? "denies" : "gives"} ${reason.permission}${forKeys(reason)}${until(reason)}`
        : `${reason.by} gives ${reason.permission}`,
    ...(reason.limited_by === undefined ? [] : [`limited by ${reason.limited_by}`])
  ].join(", ")

const explain = atEnv("explain", {
  description: "What a subject may do in an environment, and which role or rule says so",
  examples: [
    "coffer acl explain grace@example.com webshop/prod",
    "coffer acl explain grace@example.com webshop/prod --key DATABASE_URL"
  ],
  options: {
    who: personOrAccount,
    place: optionalPlace,
    key: option("key", SecretKey, "The secret to explain; default: all of the environment")
  },
  place: inPlace,
  run: ({ call, options, path: { env_name, org_name, project_name } }) =>
    Effect.gen(function* () {
      const path = { org_name }
      const named = yield* subjectOf(call, path, options.who)
      const { key } = options
      const urlParams = { ...named, project: project_name, env: env_name, ...defined({ key }) }
      const explanation = yield* call("acl", (api) => api.explain({ path, urlParams }))
      const allowed = explanation.allowed.length === 0 ? "nothing" : explanation.allowed.join(", ")
      const reasons = explanation.because.map(because)
      const { allowed_for_some: some = [] } = explanation
      const about = key === undefined ? "" : ` for ${key}`
      const lines = [
        `allowed in ${project_name}/${env_name}${about}: ${allowed}${some.length === 0 ? "" : `; for some keys: ${some.join(", ")}`}`,
        ...(reasons.length === 0 ? ["no role and no rule says otherwise"] : reasons),
        ...(explanation.via === undefined ? [] : [`signed in by ${explanation.via}`])
      ]
      return { json: explanation, text: Effect.forEach(lines, printLine, { discard: true }) }
    })
})

export const aclCommand = group("acl", "Access rules: who may read and write which environments", [
  list,
  grant,
  deny,
  revoke,
  explain,
  table,
  whoCan,
  review
])
