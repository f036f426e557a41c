import type { OrgPath } from "@coffer/domain/api/Paths"
import { ServiceAccountId } from "@coffer/domain/base/Ids"
import { withMessage } from "@coffer/domain/base/Message"
import { Email, GroupName, type OrgName, ServiceAccountName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { meantBy } from "../grammar/IdKinds.js"
import { NotThere, WrongUsage } from "../base/Failures.js"
import type { Call } from "../grammar/Command.js"
import { argument, argumentsOf, option } from "../grammar/Fields.js"
import { completedBy } from "../grammar/Specs.js"
import { questionAbout } from "../grammar/Words.js"
import { note } from "../terminal/Print.js"

/** A service account by name or id. No name has the form of an id. */
export const NameOrId = Schema.Union(ServiceAccountId, ServiceAccountName).annotations(
  withMessage("must be the name or the id of a service account")
)
export type NameOrId = typeof NameOrId.Type

const isId = Schema.is(ServiceAccountId)

/** The id of a service account. An id is not looked up: the caller may lack the right to list accounts. */
export const accountId = Effect.fnUntraced(function* (call: Call, path: OrgPath, account: NameOrId) {
  if (isId(account)) return account
  const { data } = yield* call("serviceAccounts", (api) => api.list({ path }))
  const found = meantBy(data, account)
  const [only, ...others] = found
  if (only !== undefined && others.length === 0) return only.id
  if (only !== undefined) {
    const ids = found.map(({ id }) => id).join(", ")
    return yield* new WrongUsage({
      message: `${account} is the beginning of the ids of ${found.length} accounts: ${ids}; give more of it`
    })
  }
  return yield* new NotThere({
    message: `there is no service account ${account} in ${path.org_name}${questionAbout(
      account,
      data.map(({ name }) => name)
    )} coffer service-account list shows them`
  })
})

/** Names a service account that keeps working after its creator is removed. The name needs no escapes in quotes. */
export const noteAccount = (name: ServiceAccountName, org: OrgName) =>
  note(
    `service account ${name} was made by this person and stays valid; to replace the key, which they may know: coffer service-account rotate '${name}' --org ${org}`
  )

export const email = completedBy("member", option("email", Email, "The person, by e-mail"))

export const serviceAccount = completedBy(
  "account",
  option("service-account", NameOrId, "The service account, by name or id")
)

/** One person or several. */
export const emails = completedBy(
  "member",
  argumentsOf("EMAIL", Email, { least: 1, most: 100 }, "The person's e-mail address, or several")
)

export const groupName = completedBy("group", argument("NAME", GroupName, "The group's name"))

export const groupOption = completedBy("group", option("group", GroupName, "The group, by name"))

/** The subject of an explanation, as the API names it. */
export type Subject =
  | { readonly subject_type: "user"; readonly email: Email }
  | { readonly subject_type: "service_account"; readonly subject_id: ServiceAccountId }

const subject = (named: Subject) => named

/** The subject that one of two options names. */
export const subjectOf = Effect.fnUntraced(function* (
  call: Call,
  path: OrgPath,
  options: { readonly email: Email | undefined; readonly serviceAccount: NameOrId | undefined }
) {
  if (options.email !== undefined && options.serviceAccount === undefined) {
    return subject({ subject_type: "user", email: options.email })
  }
  if (options.serviceAccount !== undefined && options.email === undefined) {
    const subject_id = yield* accountId(call, path, options.serviceAccount)
    return subject({ subject_type: "service_account", subject_id })
  }
  return yield* new WrongUsage({ message: "name one subject: an e-mail address or account:NAME" })
})

/** The subject of a rule: as of an explanation, or a group. */
export type RuleSubject = Subject | { readonly subject_type: "group"; readonly group: GroupName }

const ruleSubject = (named: RuleSubject) => named

/** The subject of a rule that one of three options names. */
export const ruleSubjectOf = Effect.fnUntraced(function* (
  call: Call,
  path: OrgPath,
  { group, ...options }: Parameters<typeof subjectOf>[2] & { readonly group: GroupName | undefined }
) {
  if (group === undefined) return ruleSubject(yield* subjectOf(call, path, options))
  if (options.email === undefined && options.serviceAccount === undefined) {
    return ruleSubject({ subject_type: "group", group })
  }
  return yield* new WrongUsage({ message: "name one subject: an e-mail address, group:NAME or account:NAME" })
})
