import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { type AclExplanation, type AclRule, permissions } from "@coffer/domain/AclRule"
import { RuleId } from "@coffer/domain/Ids"
import { Pattern } from "@coffer/domain/Pattern"
import { Effect, Option } from "effect"
import { NotThere, WrongUsage } from "../Failures.js"
import { note, printDone, printJson, printLine, printList, printRecord } from "../Output.js"
import { confirm } from "../Prompts.js"
import { checked } from "./Checked.js"
import { argument, atEnv, atOrg, connect, settingsOf, yes } from "./Shared.js"
import { email, serviceAccount, subjectOf } from "./Subjects.js"

const subject = (rule: AclRule) => rule.email ?? rule.name ?? rule.subject_id

const columns = {
  id: (rule: AclRule) => rule.id,
  subject,
  project: (rule: AclRule) => rule.project_pattern,
  env: (rule: AclRule) => rule.env_pattern,
  permission: (rule: AclRule) => rule.permission,
  "granted by": (rule: AclRule) => rule.created_by
}

const list = Command.make("list", atOrg, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const rules = yield* client.call("acl", (api) => api.list({ path }))
    yield* printList(rules, options.json, columns, "there are no access rules; make one with: coffer acl grant")
  })
).pipe(Command.withDescription("List the access rules. Example: coffer acl list --json"))

const pattern = (name: string, what: string) =>
  checked(name, Pattern).pipe(
    Options.withDescription(`Which ${what} it is about: a name, or a pattern such as web-* or {dev,staging}`)
  )
const projectPattern = pattern("project-pattern", "projects")
const envPattern = pattern("env-pattern", "environments")

const permission = Options.choice("permission", permissions).pipe(
  Options.withDescription("read values, write them too, or admin: manage rules too")
)

const grant = Command.make(
  "grant",
  { ...atOrg, email, serviceAccount, projectPattern, envPattern, permission },
  (options) =>
    Effect.gen(function* () {
      const settings = yield* settingsOf(options)
      const path = yield* settings.orgPath
      const client = yield* connect(yield* settings.server)
      const named = yield* subjectOf(client, path, options)
      const granted = {
        project_pattern: options.projectPattern,
        env_pattern: options.envPattern,
        permission: options.permission
      }
      const rule = yield* client.call("acl", (api) =>
        named.subject_type === "user"
          ? api.grant({ path, payload: { ...named, ...granted } })
          : api.grant({ path, payload: { ...named, ...granted } })
      )
      if (options.json) return yield* printRecord(rule, true)
      yield* printDone(
        `${subject(rule)} has the permission ${rule.permission} for ${rule.project_pattern}/${rule.env_pattern} (rule ${rule.id})`,
        false
      )
    })
).pipe(
  Command.withDescription(
    "Grant a permission, or change the one that the subject has for these patterns. Example: coffer acl grant --email grace@example.com --project-pattern webshop --env-pattern '{dev,staging}' --permission write"
  )
)

const ruleId = argument("RULE_ID", RuleId, "The rule's id, as coffer acl list shows it").pipe(Args.optional)

const revoke = Command.make(
  "revoke",
  {
    ...atOrg,
    ruleId,
    email,
    serviceAccount,
    projectPattern: Options.optional(projectPattern),
    envPattern: Options.optional(envPattern),
    yes
  },
  (options) =>
    Effect.gen(function* () {
      const bySubject = Option.isSome(options.email) || Option.isSome(options.serviceAccount)
      const byPattern = Option.isSome(options.projectPattern) || Option.isSome(options.envPattern)
      if (Option.isSome(options.ruleId) === (bySubject || byPattern)) {
        return yield* new WrongUsage({
          message:
            "name either a rule by its id, or a subject by --email or --service-account: coffer acl list shows them"
        })
      }
      const settings = yield* settingsOf(options)
      const path = yield* settings.orgPath
      const client = yield* connect(yield* settings.server)
      if (Option.isSome(options.ruleId)) {
        const rule_id = options.ruleId.value
        yield* confirm(`Revoke the access rule ${rule_id} of ${path.org_name}?`, options.yes)
        yield* client.call("acl", (api) => api.revoke({ path: { ...path, rule_id } }))
        return yield* printDone(`rule ${rule_id} revoked`, options.json)
      }
      const named = yield* subjectOf(client, path, options)
      const { data } = yield* client.call("acl", (api) => api.list({ path }))
      const rules = data.filter(
        (rule) =>
          (named.subject_type === "user" ? rule.email === named.email : rule.subject_id === named.subject_id) &&
          Option.match(options.projectPattern, {
            onNone: () => true,
            onSome: (text) => rule.project_pattern === text
          }) &&
          Option.match(options.envPattern, { onNone: () => true, onSome: (text) => rule.env_pattern === text })
      )
      if (rules.length === 0) {
        return yield* new NotThere({ message: "no access rule is about that; coffer acl list shows what there is" })
      }
      const sentence = (rule: AclRule) =>
        `${rule.permission} of ${subject(rule)} for ${rule.project_pattern}/${rule.env_pattern} (rule ${rule.id})`
      if (!options.yes) yield* Effect.forEach(rules, (rule) => note(`would revoke ${sentence(rule)}`))
      yield* confirm(`Revoke ${rules.length === 1 ? "this rule" : `these ${rules.length} rules`}?`, options.yes)
      for (const rule of rules) {
        // One that somebody else has revoked meanwhile is gone, as it should be.
        yield* client
          .call("acl", (api) => api.revoke({ path: { ...path, rule_id: rule.id } }))
          .pipe(Effect.catchTag("NotFound", () => Effect.void))
        yield* printDone(`revoked ${sentence(rule)}`, options.json)
      }
    })
).pipe(
  Command.withDescription(
    "Revoke one rule by its id, or every rule about a subject. Example: coffer acl revoke --email grace@example.com --env-pattern prod"
  )
)

const because = (reason: AclExplanation["because"][number]) =>
  [
    reason.by === "role"
      ? `the role ${reason.role ?? "?"} gives ${reason.permission}`
      : reason.by === "rule"
        ? `the rule ${reason.rule_id ?? "?"} gives ${reason.permission}`
        : `${reason.by} gives ${reason.permission}`,
    ...(reason.limited_by === undefined ? [] : [`limited by ${reason.limited_by}`])
  ].join(", ")

const explain = Command.make("explain", { ...atEnv, email, serviceAccount }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const place = yield* settings.envPath
    const path = { org_name: place.org_name }
    const client = yield* connect(yield* settings.server)
    const urlParams = {
      ...(yield* subjectOf(client, path, options)),
      project: place.project_name,
      env: place.env_name
    }
    const explanation = yield* client.call("acl", (api) => api.explain({ path, urlParams }))
    if (options.json) return yield* printJson(explanation)
    const may = explanation.allowed.length === 0 ? "nothing" : explanation.allowed.join(", ")
    yield* printLine(`allowed in ${place.project_name}/${place.env_name}: ${may}`)
    if (explanation.because.length === 0) yield* printLine("no role and no rule says otherwise")
    yield* Effect.forEach(explanation.because, (reason) => printLine(because(reason)))
  })
).pipe(
  Command.withDescription(
    "What a subject may do in an environment, and which role or rule says so. Example: coffer acl explain --email grace@example.com --project webshop --env prod"
  )
)

export const aclCommand = Command.make("acl").pipe(
  Command.withDescription("Access rules: who may read and write which environments"),
  Command.withSubcommands([list, grant, revoke, explain])
)
