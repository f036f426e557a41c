import type { Exchange } from "@coffer/client/internal/Exchange"
import type { Settings } from "@coffer/client/internal/Settings"
import { type AclRule, Permission } from "@coffer/domain/access/AclRule"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { defined } from "@coffer/domain/base/Defined"
import { Pattern } from "@coffer/domain/base/Pattern"
import { KeyPattern } from "@coffer/domain/secrets/KeyPatterns"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { atOrg, type Call } from "../../grammar/Command.js"
import { argument, option } from "../../grammar/Fields.js"
import { patternForm, patternPlace, type PlaceOf } from "../../grammar/PlaceArguments.js"
import { completedBy, flag, orOld } from "../../grammar/Specs.js"
import { endOf, lasting, oldEnd } from "../../grammar/Times.js"
import { ruleSubjectOf } from "../../subjects/Subjects.js"
import { oldWho, oneWho, type Who, who, whoForm } from "../../subjects/Who.js"
import { note } from "../../terminal/Print.js"
import { doneView } from "../../terminal/View.js"
import { until } from "./Expires.js"
import { forKeys, ruleSubject } from "./RuleText.js"
import { settleUnmatched } from "./UnmatchedPatterns.js"

/** The options of earlier releases for the patterns of a rule. */
export const oldPatterns = {
  project: completedBy("project", option("project-pattern", Pattern, "Old form of PLACE")),
  env: option("env-pattern", Pattern, "Old form of PLACE")
}

const placeArgument = completedBy("env-path", argument("PLACE", patternPlace, `Where: ${patternForm}`))
const whoArgument = completedBy("who", argument("WHO", who, `Who: ${whoForm}`))

const permissions = "use values without seeing them, read them, write them too, or admin: manage rules too"

const keys = option("key", KeyPattern, "Only the keys of this pattern, such as 'DB_*'; without it, all keys")
const resembling = (what: string) =>
  flag("yes", `${what} although PLACE names nothing yet and resembles a name that exists`)

interface Terms {
  readonly who: Who
  readonly place: PlaceOf<Pattern, Pattern>
  readonly permission: Permission
  readonly key: string | undefined
  readonly end: string | undefined
  readonly yes: boolean
}

interface AtOrg {
  readonly call: Call
  readonly exchange: Exchange
  readonly path: OrgPath
  readonly settings: Settings
}

/** Makes a rule, or changes the one of the same subject, place and keys. */
const makeRule = Effect.fnUntraced(function* (
  { call, exchange, path, settings }: AtOrg,
  { end, key, permission, place, who, yes }: Terms,
  denies: boolean
) {
  const named = yield* ruleSubjectOf(call, path, who)
  const granted = {
    project_pattern: place.project ?? Pattern.to.make(yield* settings.project),
    env_pattern: place.env,
    permission,
    ...defined({ key_pattern: key }),
    ...(denies && { denies }),
    ...(end !== undefined && { expires_at: yield* endOf(end) })
  }
  const patterns = { project: granted.project_pattern, env: granted.env_pattern }
  const at = `${patterns.project}/${patterns.env}`
  yield* settleUnmatched(exchange, path.org_name, patterns, `${denies ? "Deny" : "Grant"} it for ${at}`, yes)
  return yield* call("acl", (api) =>
    named.subject_type === "user"
      ? api.grant({ path, payload: { ...named, ...granted } })
      : named.subject_type === "group"
        ? api.grant({ path, payload: { ...named, ...granted } })
        : api.grant({ path, payload: { ...named, ...granted } })
  )
})

const placeOf = (rule: AclRule) =>
  `${rule.project_pattern}/${rule.env_pattern}${forKeys(rule)}${until(rule)} (rule ${rule.id})`

export const grant = atOrg("grant", {
  description: "Grant a permission, or change the one that the subject has for this place and these keys, and its end",
  examples: [
    "coffer acl grant grace@example.com webshop/prod read --for 4h",
    "coffer acl grant grace@example.com 'webshop/{dev,staging}' write",
    "coffer acl grant account:ci webshop/prod read --until 2035-12-01",
    "coffer acl grant group:backend 'webshop/*' write",
    "coffer acl grant account:ci webshop/prod read --key 'DEPLOY_*'"
  ],
  options: {
    who: orOld(whoArgument, oldWho, oneWho),
    place: orOld(placeArgument, oldPatterns, ({ env, project }) =>
      project === undefined || env === undefined
        ? Either.left("--project-pattern and --env-pattern go together")
        : Either.right({ org: undefined, project, env })
    ),
    permission: orOld(
      argument("PERMISSION", Permission, permissions),
      { permission: option("permission", Permission, permissions) },
      ({ permission }) => Either.fromNullable(permission, () => "--permission is missing")
    ),
    key: keys,
    end: lasting("the rule lasts", oldEnd("expires")),
    yes: resembling("Grant it")
  },
  place: ({ place: { org } }) => defined({ org }),
  run: (given) =>
    Effect.map(makeRule(given, given.options, false), (rule) =>
      doneView(`${ruleSubject(rule)} has the permission ${rule.permission} for ${placeOf(rule)}`, rule)
    )
})

/** Notes that a rule takes nothing from an owner or an admin. */
const noteRole = Effect.fnUntraced(function* (call: Call, path: OrgPath, email: string | undefined) {
  if (email === undefined) return
  const { data } = yield* call("members", (api) => api.list({ path }))
  const role = data.find((member) => member.email === email)?.role
  if (role === "owner" || role === "admin") {
    yield* note(
      `${email} is ${role} of ${path.org_name}: no rule takes from this role, so this one waits for another role`
    )
  }
})

export const deny = atOrg("deny", {
  description: "Deny a permission and those above it, whatever other rules give; the roles owner and admin keep theirs",
  examples: [
    "coffer acl deny grace@example.com webshop/prod read --key 'STRIPE_*'",
    "coffer acl deny group:backend webshop/prod write --key 'DB_*' --for 4h"
  ],
  options: {
    who: whoArgument,
    place: placeArgument,
    permission: argument(
      "PERMISSION",
      Permission,
      "The permission: use takes everything, read leaves use, write leaves read, admin leaves write"
    ),
    key: keys,
    end: lasting("the rule lasts"),
    yes: resembling("Deny it")
  },
  place: ({ place: { org } }) => defined({ org }),
  run: (given) =>
    Effect.gen(function* () {
      const { call, path } = given
      const rule = yield* makeRule(given, given.options, true)
      yield* noteRole(call, path, rule.email)
      return doneView(`${ruleSubject(rule)} is denied ${rule.permission} for ${placeOf(rule)}`, rule)
    })
})
