import {
  type ArchivedAccount,
  type ArchivedMember,
  archivedRecords,
  type ArchivedOrganization,
  type ArchivedProject,
  type ArchivedRule
} from "@coffer/domain/archive/ArchivedOrganization"
import { maxEnvironments } from "@coffer/domain/directory/Environment"
import { LimitExceeded, ValidationError } from "@coffer/domain/errors/Errors"
import { maxGroupMappings } from "@coffer/domain/directory/Group"
import { type PasskeyRecovery, passkeyRecoveries } from "@coffer/domain/directory/Organization"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { mapInSlices } from "../../base/EventLoop.js"
import { maxRules, maxRulesOfGroups, maxRulesOfSubject } from "../../directory/acl/Acl.js"
import { maxFederations } from "../../directory/federations/Federations.js"
import { maxGroups } from "../../directory/groups/Groups.js"
import { maxMembers } from "../../directory/members/Members.js"
import { maxProjects } from "../../directory/projects/Projects.js"
import { maxAccounts } from "../../directory/service-accounts/ServiceAccounts.js"
import { undecoded } from "../../http/Failure.js"
import { parseLines } from "../../http/ParseJson.js"
import { maxWebhooks } from "../webhooks/Webhooks.js"

/** The most records of each list: as many as the API makes. */
const limits: Readonly<Record<keyof typeof archivedRecords, number>> = {
  members: maxMembers,
  groups: maxGroups,
  mappings: maxGroupMappings,
  projects: maxProjects,
  accounts: maxAccounts,
  rules: maxRules,
  webhooks: maxWebhooks
}

const invalid = (message: string) => new ValidationError({ message: `organization: ${message}` })
const tooMany = (what: string, limit: number) => new LimitExceeded({ message: `${what} has at most ${limit}` })

const isRecovery = Schema.is(Schema.Literal(...passkeyRecoveries))

type Lists = Readonly<Record<keyof typeof archivedRecords, Array<unknown>>>

const unknownField = invalid("has a field that this server does not know: a newer one made it")
const notJson = invalid("must be lines of JSON, each an object with one field")

/** Returns the only field of a line. */
const fieldIn = (value: unknown): readonly [string, unknown] | null => {
  const [field, ...others] = Predicate.isRecord(value) ? Object.entries(value) : []
  return field === undefined || others.length > 0 ? null : field
}

const isList = (name: string): name is keyof Lists => Object.hasOwn(archivedRecords, name)

/** Sorts the lines of a text into lists. A list that is too long ends it at once. */
const collect = Effect.fnUntraced(function* (text: string) {
  const lists: Lists = { members: [], groups: [], mappings: [], projects: [], accounts: [], rules: [], webhooks: [] }
  let passkey_recovery: PasskeyRecovery | undefined
  const take = (line: unknown): LimitExceeded | ValidationError | null => {
    const field = fieldIn(line)
    if (field === null) return notJson
    const [name, value] = field
    if (isList(name)) {
      const length = lists[name].push(value)
      return length > limits[name] ? tooMany(`the list ${name} of an organization`, limits[name]) : null
    }
    if (name !== "passkey_recovery") return unknownField
    if (passkey_recovery !== undefined) return invalid("has passkey_recovery twice")
    if (!isRecovery(value)) return invalid("passkey_recovery must be one of login, none")
    passkey_recovery = value
    return null
  }
  const takeAll = (lines: ReadonlyArray<unknown>) => {
    for (const line of lines) {
      const problem = take(line)
      if (problem !== null) return Effect.fail(problem)
    }
    return Effect.void
  }
  yield* Effect.mapError(parseLines(text, takeAll), (wrong) =>
    Predicate.isString(wrong) ? invalid(`has a line that ${wrong}`) : wrong
  )
  return { lists, passkey_recovery: passkey_recovery ?? "login" } as const
})

/** Decodes a list in slices, so that a long one does not block the event loop. */
const decodeList = <A, I>(
  name: keyof Lists,
  items: ReadonlyArray<unknown>,
  record: Schema.Schema<A, I>
): Effect.Effect<ReadonlyArray<A>, ValidationError> => {
  const decode = Schema.decodeUnknownEither(record, { onExcessProperty: "error" })
  return Effect.flatMap(mapInSlices(items, decode), (decoded) => {
    const index = decoded.findIndex(Either.isLeft)
    const [error] = Array.getLefts(decoded)
    return error === undefined
      ? Effect.succeed(Array.getRights(decoded))
      : undecoded(ParseResult.ArrayFormatter.formatErrorSync(error), ["organization", name, index])
  })
}

/** Decodes a structure. Fails with ValidationError, which names what is wrong and repeats nothing of it. */
export const decodeStructure = Effect.fnUntraced(function* (text: string) {
  const { lists, passkey_recovery } = yield* collect(text)
  const decoded: ArchivedOrganization = {
    passkey_recovery,
    members: yield* decodeList("members", lists.members, archivedRecords.members),
    groups: yield* decodeList("groups", lists.groups, archivedRecords.groups),
    mappings: yield* decodeList("mappings", lists.mappings, archivedRecords.mappings),
    projects: yield* decodeList("projects", lists.projects, archivedRecords.projects),
    accounts: yield* decodeList("accounts", lists.accounts, archivedRecords.accounts),
    rules: yield* decodeList("rules", lists.rules, archivedRecords.rules),
    webhooks: yield* decodeList("webhooks", lists.webhooks, archivedRecords.webhooks)
  }
  yield* checkStructure(decoded)
  return decoded
})

/** The lines of a structure, which `decodeStructure` reads, in slices. */
export const linesOfStructure = (structure: ArchivedOrganization): Effect.Effect<string> => {
  function* fields(): Generator<object> {
    for (const [name, field] of Object.entries(structure)) {
      if (typeof field === "string") yield { [name]: field }
      else for (const record of field) yield { [name]: record }
    }
  }
  return Effect.map(
    mapInSlices(fields(), (line) => JSON.stringify(line)),
    (lines) => lines.join("\n")
  )
}

/** They are written in one transaction, for which other organizations wait. */
const maxArchivedEnvironments = 5_000

type Problem = LimitExceeded | ValidationError | null

/** The first name that occurs twice. */
const twice = (names: ReadonlyArray<string>): string | undefined => {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

const uniqueNames = (what: string, names: ReadonlyArray<string>): Problem => {
  const name = twice(names)
  return name === undefined ? null : invalid(`has the ${what} ${name} twice`)
}

const unknownName = (what: string, known: ReadonlySet<string>, names: ReadonlyArray<string>): Problem => {
  const name = names.find((one) => !known.has(one))
  return name === undefined ? null : invalid(`names the ${what} ${name}, which it does not have`)
}

const projectProblem = ({ environments, name, order = [], previews }: ArchivedProject): Problem => {
  const names = environments.map((env) => env.name)
  if (names.length > maxEnvironments) return tooMany(`project ${name}`, maxEnvironments)
  return (
    uniqueNames(`environment of project ${name}`, names) ??
    uniqueNames(`position of an environment of project ${name}`, order) ??
    unknownName(`environment of project ${name}`, new Set(names), [
      ...order,
      ...(previews === undefined ? [] : [previews.from]),
      ...environments.flatMap(({ from }) => (from === undefined ? [] : [from]))
    ])
  )
}

const accountProblem = ({ federations, name, project }: ArchivedAccount, projects: ReadonlySet<string>): Problem =>
  (federations.length > maxFederations ? tooMany(`service account ${name}`, maxFederations) : null) ??
  unknownName("project", projects, project === undefined ? [] : [project]) ??
  uniqueNames(
    `federation of service account ${name}`,
    federations.map((one) => one.name)
  )

const rulesProblem = (
  rules: ReadonlyArray<ArchivedRule>,
  known: Readonly<Record<ArchivedRule["subject_type"], ReadonlySet<string>>>
): Problem => {
  const counts = new Map<string, number>()
  for (const { subject, subject_type } of rules) {
    const problem = unknownName("subject of a rule", known[subject_type], [subject])
    if (problem !== null) return problem
    const name = `${subject_type} ${subject}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const ofGroups = rules.filter(({ subject_type }) => subject_type === "group").length
  if (ofGroups > maxRulesOfGroups) return tooMany("the list of rules of groups", maxRulesOfGroups)
  if ([...counts.values()].some((count) => count > maxRulesOfSubject)) {
    return tooMany("the list of rules of a subject", maxRulesOfSubject)
  }
  return uniqueNames(
    "rule",
    rules.map(
      ({ env_pattern, project_pattern, subject, subject_type }) =>
        `of ${subject_type} ${subject} for ${project_pattern}/${env_pattern}`
    )
  )
}

const emailsOf = (members: ReadonlyArray<ArchivedMember>) => members.map(({ email }): string => email)

/** Fails unless the parts of a structure fit together and the API could have made each. */
const checkStructure = (structure: ArchivedOrganization): Effect.Effect<void, LimitExceeded | ValidationError> => {
  const { accounts, groups, mappings, members, projects, rules } = structure
  const people = new Set(emailsOf(members))
  const groupNames = new Set(groups.map(({ name }): string => name))
  const projectNames = new Set(projects.map(({ name }): string => name))
  const accountNames = new Set(accounts.map(({ name }): string => name))
  const first = (problems: Iterable<Problem>): Problem => {
    for (const problem of problems) if (problem !== null) return problem
    return null
  }
  const environments = projects.reduce((total, project) => total + project.environments.length, 0)
  const problem =
    (environments > maxArchivedEnvironments
      ? tooMany("the list of environments of an organization", maxArchivedEnvironments)
      : null) ??
    uniqueNames("member", emailsOf(members)) ??
    uniqueNames(
      "group",
      groups.map(({ name }) => name.toLowerCase())
    ) ??
    uniqueNames(
      "project",
      projects.map(({ name }) => name)
    ) ??
    uniqueNames(
      "service account",
      accounts.map(({ name }) => name.trim().toLowerCase())
    ) ??
    uniqueNames(
      "mapping",
      mappings.map(({ group, provider_group }) => `${provider_group} to ${group}`)
    ) ??
    unknownName(
      "group",
      groupNames,
      mappings.map(({ group }) => group)
    ) ??
    first(groups.map(({ members: some }) => unknownName("member", people, some))) ??
    first(groups.map(({ members: some, name }) => uniqueNames(`member of group ${name}`, some))) ??
    first(projects.map(projectProblem)) ??
    first(accounts.map((account) => accountProblem(account, projectNames))) ??
    rulesProblem(rules, { user: people, service_account: accountNames, group: groupNames })
  return problem === null ? Effect.void : Effect.fail(problem)
}
