import { archivedRecords, type ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import type { LimitExceeded, ValidationError } from "@coffer/domain/errors/Errors"
import { maxGroupMappings } from "@coffer/domain/directory/Group"
import { passkeyRecoveries, unusedAccessMails } from "@coffer/domain/directory/Organization"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { recordLimit, type Limit } from "../../base/Limit.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { ruleLimits } from "../../directory/acl/Acl.js"
import { ruleEndsProblem, rulesProblem } from "../../directory/acl/Archive.js"
import { firstOf, invalid } from "../../directory/archives/Checks.js"
import { groupsProblem } from "../../directory/groups/Archive.js"
import { groupLimit } from "../../directory/groups/Groups.js"
import { membersProblem } from "../../directory/members/Archive.js"
import { memberLimit } from "../../directory/members/Members.js"
import { environmentEndsProblem, projectsProblem } from "../../directory/projects/Archive.js"
import { projectLimit } from "../../directory/projects/Projects.js"
import { accountsProblem } from "../../directory/service-accounts/Archive.js"
import { accountLimit } from "../../directory/service-accounts/ServiceAccounts.js"
import { undecoded } from "../../http/Failure.js"
import { parseLines } from "../../http/ParseJson.js"
import { webhookLimit } from "../webhooks/Webhooks.js"

/** The limits of the calls. */
const limits: Readonly<Record<keyof typeof archivedRecords, Limit>> = {
  members: memberLimit,
  groups: groupLimit,
  mappings: recordLimit(maxGroupMappings, (max) => `an organization has at most ${max} mappings of groups`),
  projects: projectLimit,
  accounts: accountLimit,
  rules: ruleLimits.all,
  webhooks: webhookLimit
}

/** Whether the parts of a structure fit together, and the API could have made each. */
const checks = [membersProblem, projectsProblem, groupsProblem, accountsProblem, rulesProblem]

/** The settings of an organization: words that stand in lines of their own. */
const settings = {
  passkey_recovery: { words: passkeyRecoveries, is: Schema.is(Schema.Literal(...passkeyRecoveries)) },
  unused_access_mail: { words: unusedAccessMails, is: Schema.is(Schema.Literal(...unusedAccessMails)) }
} as const

const isSetting = (name: string): name is keyof typeof settings => Object.hasOwn(settings, name)

type Settings = Pick<ArchivedOrganization, keyof typeof settings>

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
  let found: Partial<Settings> = {}
  const take = (line: unknown): LimitExceeded | ValidationError | null => {
    const field = fieldIn(line)
    if (field === null) return notJson
    const [name, value] = field
    if (isList(name)) {
      return limits[name].problem(lists[name].push(value))
    }
    if (!isSetting(name)) return unknownField
    if (found[name] !== undefined) return invalid(`has ${name} twice`)
    const { is, words } = settings[name]
    if (!is(value)) return invalid(`${name} must be one of ${words.join(", ")}`)
    found = { ...found, [name]: value }
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
  const all: Settings = { passkey_recovery: "login", ...found }
  return { lists, settings: all } as const
})

/** An end that no call would set, when an import begins. */
export const endsProblem = (structure: ArchivedOrganization, now: number) =>
  firstOf([environmentEndsProblem(structure, now), ruleEndsProblem(structure, now)])

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
  const { lists, settings: given } = yield* collect(text)
  const decoded: ArchivedOrganization = {
    ...given,
    members: yield* decodeList("members", lists.members, archivedRecords.members),
    groups: yield* decodeList("groups", lists.groups, archivedRecords.groups),
    mappings: yield* decodeList("mappings", lists.mappings, archivedRecords.mappings),
    projects: yield* decodeList("projects", lists.projects, archivedRecords.projects),
    accounts: yield* decodeList("accounts", lists.accounts, archivedRecords.accounts),
    rules: yield* decodeList("rules", lists.rules, archivedRecords.rules),
    webhooks: yield* decodeList("webhooks", lists.webhooks, archivedRecords.webhooks)
  }
  const problem = firstOf(checks.map((check) => check(decoded)))
  return problem === null ? decoded : yield* problem
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
