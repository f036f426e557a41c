import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { type AclRule, Permission } from "./AclRule.js"
import { type CsvMistake, type CsvRecord, readCsv } from "../base/Csv.js"
import { type Member, Role } from "../directory/Member.js"
import { Email } from "../base/Names.js"
import { Pattern } from "../base/Pattern.js"

/** The largest file of people to invite, in bytes. A larger one is refused unread. */
export const maxInvitationBytes = 256 * 1024

/** How many people a file can invite. */
export const maxInvitations = 1000

export const invitationColumns = ["email", "role", "rules"] as const
type Column = (typeof invitationColumns)[number]

/** The columns of a file of people, with an example. */
export const invitationExample = `${invitationColumns.join(",")}\ngrace@example.com,developer,"webshop/{dev,staging}:write"\n`

/** An access rule that a person gets with the invitation. */
export interface WantedRule {
  readonly project_pattern: Pattern
  readonly env_pattern: Pattern
  readonly permission: Permission
}

/** A person to invite. */
export interface Invitation {
  readonly line: number
  readonly email: Email
  /** Undefined where the file leaves it open. */
  readonly role: Role | undefined
  readonly rules: ReadonlyArray<WantedRule>
}

const decodeEmail = Schema.decodeUnknownOption(Email)
const decodeRole = Schema.decodeUnknownOption(Role)
const decodeRule = Schema.decodeUnknownOption(
  Schema.Struct({ project_pattern: Pattern, env_pattern: Pattern, permission: Permission })
)

/** `project/environment:permission`. */
const ruleOf = (text: string) => {
  const [, project_pattern, env_pattern, permission] = /^([^/:]+)\/([^/:]+):([a-z]+)$/.exec(text) ?? []
  return decodeRule({ project_pattern, env_pattern, permission })
}

const isColumn = (text: string): text is Column => invitationColumns.some((column) => column === text)

/** The columns of the header, in their order; or what is wrong with it. */
const columnsOf = ({ cells, line }: CsvRecord): Either.Either<ReadonlyArray<Column>, CsvMistake> => {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const columns = names.filter(isColumn)
  const known = `the first line names the columns: ${invitationColumns.join(", ")}`
  if (columns.length < names.length) {
    const index = names.findIndex((name) => !isColumn(name))
    return Either.left({ line, problem: `column ${index + 1} of the header is unknown; ${known}` })
  }
  if (!columns.includes("email")) return Either.left({ line, problem: `there is no column email; ${known}` })
  if (new Set(columns).size < columns.length) return Either.left({ line, problem: "a column is named twice" })
  return Either.right(columns)
}

/** Reads people from the records behind the header. */
const readPeople = (columns: ReadonlyArray<Column>, records: ReadonlyArray<CsvRecord>) => {
  const mistakes: Array<CsvMistake> = []
  const people: Array<Invitation> = []
  const lines = new Map<string, number>()
  for (const { cells, line } of records) {
    const refuse = (problem: string) => mistakes.push({ line, problem })
    if (cells.length > columns.length) {
      refuse(
        `${cells.length} ${cells.length === 1 ? "cell" : "cells"}, but ${columns.length} ${columns.length === 1 ? "column" : "columns"}: put a cell with commas in quotes`
      )
      continue
    }
    const cell = (column: Column) => cells[columns.indexOf(column)]?.trim() ?? ""
    const before = mistakes.length
    const email = decodeEmail(cell("email"))
    const role = cell("role") === "" ? undefined : decodeRole(cell("role").toLowerCase())
    const rules = cell("rules")
      .split(/[\s;]+/)
      .filter((rule) => rule !== "")
      .map(ruleOf)
    if (email._tag === "None") refuse("the e-mail address must be one such as ada@example.com")
    else {
      const known = lines.get(email.value)
      if (known !== undefined) refuse(`this person is on line ${known} too`)
      lines.set(email.value, known ?? line)
    }
    if (role?._tag === "None") refuse("the role must be one of owner, admin, developer, member")
    rules.forEach((rule, index) => {
      if (rule._tag === "Some") return
      refuse(`rule ${index + 1} must be PROJECT/ENVIRONMENT:PERMISSION, such as webshop/{dev,staging}:write`)
    })
    if (mistakes.length > before || email._tag === "None") continue
    const given = rules.flatMap((rule) => (rule._tag === "Some" ? [rule.value] : []))
    people.push({ line, email: email.value, role: role?._tag === "Some" ? role.value : undefined, rules: given })
  }
  return { mistakes, people }
}

/** Reads a CSV file of people to invite. Fails with every mistake that it finds. The mistakes hold no text of the file. */
export const readInvitations = (
  text: string
): Either.Either<ReadonlyArray<Invitation>, readonly [CsvMistake, ...ReadonlyArray<CsvMistake>]> => {
  const csv = readCsv(text)
  if (Either.isLeft(csv)) return Either.left([csv.left])
  const [header, ...records] = csv.right
  if (header === undefined) return Either.left([{ line: 1, problem: "the file is empty" }])
  const columns = columnsOf(header)
  if (Either.isLeft(columns)) return Either.left([columns.left])
  const excess = records[maxInvitations]
  if (excess !== undefined) {
    return Either.left([{ line: excess.line, problem: `a file invites at most ${maxInvitations} people: split it` }])
  }
  const { mistakes, people } = readPeople(columns.right, records)
  const [first, ...others] = mistakes
  return first === undefined ? Either.right(people) : Either.left([first, ...others])
}

/** A rule that is still to be granted, with the permission that it replaces. */
export interface PlannedRule extends WantedRule {
  readonly before?: string
}

/** The remaining steps for a person. */
export interface PlannedInvitation {
  readonly invitation: Invitation
  readonly role: Role
  /** The role of a person who is a member already. It stays. */
  readonly memberAs?: string
  readonly rules: ReadonlyArray<PlannedRule>
}

/**
 * Compares people to invite with the members and rules of an organization: what is done already is not done again.
 *
 * @param fallback the role of people for whom the file names none
 */
export const planInvitations = (
  people: ReadonlyArray<Invitation>,
  members: ReadonlyArray<Pick<Member, "email" | "role">>,
  rules: ReadonlyArray<
    Pick<AclRule, "email" | "project_pattern" | "env_pattern" | "permission" | "key_pattern" | "denies">
  >,
  fallback: Role
): ReadonlyArray<PlannedInvitation> => {
  const roles = new Map<string, string>(members.map(({ email, role }) => [email, role]))
  const nameOf = (email: string, { env_pattern, project_pattern }: { env_pattern: string; project_pattern: string }) =>
    `${email} ${project_pattern}/${env_pattern}`
  // A file has no rule for some keys, and none that denies.
  const whole = rules.filter(({ denies, key_pattern }) => denies !== true && key_pattern === undefined)
  const granted = new Map(whole.map((rule) => [nameOf(rule.email ?? "", rule), rule.permission]))
  return people.map((invitation) => {
    const { email, role = fallback } = invitation
    const memberAs = roles.get(email)
    const left = invitation.rules.flatMap((rule): ReadonlyArray<PlannedRule> => {
      const before = granted.get(nameOf(email, rule))
      if (before === rule.permission) return []
      return [before === undefined ? rule : { ...rule, before }]
    })
    return { invitation, role, rules: left, ...(memberAs !== undefined && { memberAs }) }
  })
}

/** How a rule is written in a file of people. */
export const ruleText = ({ env_pattern, permission, project_pattern }: WantedRule): string =>
  `${project_pattern}/${env_pattern}:${permission}`
