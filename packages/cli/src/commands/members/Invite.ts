import type { Exchange } from "@coffer/client/internal/Exchange"
import { noteUnmatched } from "../access/UnmatchedPatterns.js"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { defined } from "@coffer/domain/base/Defined"
import { Forbidden } from "@coffer/domain/errors/Errors"
import { BadFile } from "@coffer/domain/formats/Format"
import {
  maxInvitationBytes,
  type PlannedInvitation,
  planInvitations,
  readInvitations,
  ruleText
} from "@coffer/domain/access/Invitations"
import { Role, roles } from "@coffer/domain/directory/Member"
import { Email } from "@coffer/domain/base/Names"
import { needs } from "@coffer/domain/access/Permissions"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { atOrg, type Call } from "../../grammar/Command.js"
import { option, optionalArgument } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { type Source, sourceOf } from "../../terminal/Bytes.js"
import { note, printJson, printTable } from "../../terminal/Print.js"
import { withProgress } from "../../terminal/Progress.js"
import { readText } from "../../terminal/TextFile.js"
import { doneView } from "../../terminal/View.js"

/** Invitations go one by one: fails before the first if the caller may invite nobody, or no owner. */
const checkRights = Effect.fnUntraced(function* (call: Call, path: OrgPath) {
  const identity = yield* call("auth", (api) => api.me({}))
  if (identity.type === "user" && identity.is_superadmin) return "owner"
  const { role } = yield* call("organizations", (api) => api.get({ path }))
  const own = roles.find((one) => one === role)
  const needed = needs["member.invite"].role
  if (identity.type === "user" && own !== undefined && roles.indexOf(own) >= roles.indexOf(needed)) return own
  return yield* new Forbidden({ message: `to invite people to ${path.org_name}, one needs the role ${needed}` })
})

const readPeople = Effect.fnUntraced(function* (source: Source) {
  const tooLarge = `larger than ${maxInvitationBytes / 1024} KB: check that it is the right file, or split it`
  const text = yield* readText(source, maxInvitationBytes, tooLarge)
  return yield* Either.mapLeft(
    readInvitations(Redacted.value(text)),
    (mistakes) => new BadFile({ file: source.name, mistakes })
  )
})

type RuleChange = "granted" | "changed"

/** The outcome of a line of the file. */
interface Outcome {
  readonly line: number
  readonly email: Email
  readonly role: string
  readonly change: "invited" | "member"
  readonly rules: ReadonlyArray<{ readonly rule: string; readonly change: RuleChange }>
}

const outcomeOf = ({ invitation: { email, line }, memberAs, role, rules }: PlannedInvitation): Outcome => ({
  line,
  email,
  role: memberAs ?? role,
  change: memberAs === undefined ? "invited" : "member",
  rules: rules.map((rule) => ({ rule: ruleText(rule), change: rule.before === undefined ? "granted" : "changed" }))
})

/** Invites a person and grants the rules. Somebody else may have invited the person meanwhile. */
const apply = Effect.fnUntraced(function* (call: Call, path: OrgPath, planned: PlannedInvitation) {
  const { invitation, memberAs, role, rules } = planned
  const { email } = invitation
  const isNew =
    memberAs === undefined &&
    (yield* call("members", (api) => api.invite({ path, payload: { email, role } })).pipe(
      Effect.as(true),
      Effect.catchTag("Conflict", () => Effect.succeed(false))
    ))
  for (const { env_pattern, permission, project_pattern } of rules) {
    const payload = { subject_type: "user" as const, email, project_pattern, env_pattern, permission }
    yield* call("acl", (api) => api.grant({ path, payload }))
  }
  return { ...outcomeOf(planned), change: isNew ? ("invited" as const) : ("member" as const) }
})

const isLeft = ({ memberAs, rules }: PlannedInvitation): boolean => memberAs === undefined || rules.length > 0

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`

const sumOf = (outcomes: ReadonlyArray<Outcome>) => {
  const invited = outcomes.filter(({ change }) => change === "invited").length
  const granted = outcomes.reduce((sum, { rules }) => sum + rules.length, 0)
  return `${invited} invited, ${counted(outcomes.length - invited, "member")} already, ${counted(granted, "rule")} granted`
}

const print = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Outcome>, json: boolean, isDryRun: boolean) {
  if (json) return yield* printJson({ dry_run: isDryRun, data: outcomes })
  if (outcomes.length === 0) return
  const rows = outcomes.map(({ change, email, role, rules }) => [
    email,
    change === "member" ? "is a member already" : isDryRun ? "would be invited" : "invited",
    role,
    rules.map(({ change: how, rule }) => (how === "changed" ? `${rule} (changed)` : rule)).join(" ")
  ])
  yield* printTable(["email", "invitation", "role", "rules"], rows)
})

/** Fails before anybody is invited if only an owner may make these people owners. */
const checkOwners = (people: ReadonlyArray<PlannedInvitation>, own: Role, { org_name }: OrgPath) => {
  const owner = people.find(({ memberAs, role }) => memberAs === undefined && role === "owner")
  return own === "owner" || owner === undefined
    ? Effect.void
    : new Forbidden({
        message: `line ${owner.invitation.line} makes an owner of ${org_name}, and only an owner may grant the role owner`
      })
}

/** Applies a plan. After a failure in the middle, the same command continues. */
const applyPlan = (call: Call, path: OrgPath, plan: ReadonlyArray<PlannedInvitation>, json: boolean) =>
  Effect.gen(function* () {
    const done: Array<Outcome> = []
    yield* withProgress((progress) =>
      Effect.forEach(
        plan,
        (planned) =>
          Effect.gen(function* () {
            const { email } = planned.invitation
            yield* progress.step(done.length / plan.length, `${done.length} of ${plan.length}: ${email}`)
            done.push(yield* isLeft(planned) ? apply(call, path, planned) : Effect.succeed(outcomeOf(planned)))
          }),
        { discard: true }
      )
    ).pipe(
      Effect.tapError(() => {
        const next = plan[done.length]?.invitation
        const where = next === undefined ? "" : ` stopped at line ${next.line} (${next.email}):`
        return Effect.zipRight(
          print(done, json, false),
          note(`${sumOf(done)};${where} the same command again continues there`)
        )
      })
    )
    return done
  })

interface FileOptions {
  readonly role: Role | undefined
  readonly dryRun: boolean
}

/** Invites the people of a CSV file. */
const inviteFile = Effect.fnUntraced(function* (
  { call, exchange }: { readonly call: Call; readonly exchange: Exchange },
  path: OrgPath,
  source: Source,
  { dryRun, role = "member" }: FileOptions,
  json: boolean
) {
  const own = yield* checkRights(call, path)
  const people = yield* readPeople(source)
  const members = yield* call("members", (api) => api.list({ path }))
  const rules = yield* call("acl", (api) => api.list({ path }))
  const plan = planInvitations(people, members.data, rules.data, role)
  yield* checkOwners(plan, own, path)
  const patterns = new Map(
    plan.flatMap(({ rules }) =>
      rules.map(({ env_pattern: env, project_pattern: project }) => [`${project}/${env}`, { project, env }] as const)
    )
  )
  yield* noteUnmatched(exchange, path.org_name, [...patterns.values()])
  const outcomes = dryRun ? plan.map(outcomeOf) : yield* applyPlan(call, path, plan, json)
  yield* print(outcomes, json, dryRun)
  yield* note(
    dryRun
      ? `${path.org_name}: would be ${sumOf(outcomes)}; nothing was changed`
      : `${path.org_name}: ${sumOf(outcomes)}`
  )
})

export const invite = atOrg("invite", {
  description: "Invite a person, or the people of a CSV file with the columns email, role and rules",
  examples: [
    "coffer member invite grace@example.com --role developer",
    "coffer member invite --file people.csv --dry-run"
  ],
  options: {
    email: optionalArgument("EMAIL", Email, "The person's e-mail address; or --file"),
    role: option("role", Role, "What the person may do; member when left out, also on the lines of a file"),
    file: option(
      "file",
      Schema.NonEmptyString,
      "A CSV file of people, or - for standard input; rules are PROJECT/ENV:PERMISSION, with spaces between"
    ),
    dryRun: flag("dry-run", "With --file, show who would be invited and which rules granted, and change nothing")
  },
  check: ({ dryRun, email, file }) => {
    if ((email === undefined) === (file === undefined)) return "name one EMAIL, or a file of people with --file"
    return dryRun && file === undefined ? "--dry-run goes with --file" : undefined
  },
  run: ({ call, exchange, json, options: { dryRun, email, file, role }, path }) =>
    Effect.gen(function* () {
      if (email === undefined)
        return yield* inviteFile({ call, exchange }, path, sourceOf(file ?? "-"), { role, dryRun }, json)
      const member = yield* call("members", (api) => api.invite({ path, payload: { email, ...defined({ role }) } }))
      const invited = `${member.email} is invited to ${path.org_name} as ${member.role}`
      // Other roles give access by themselves.
      const needsRule = member.role === "member" || member.role === "developer"
      const next = needsRule ? `; no rule gives access yet: coffer acl grant ${member.email} PLACE read` : ""
      return doneView(invited + next, member)
    })
})
