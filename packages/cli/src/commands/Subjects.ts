import * as Options from "@effect/cli/Options"
import type { OrgPath } from "@coffer/domain/api/Paths"
import type { CofferClient } from "@coffer/domain/client/CofferClient"
import { ServiceAccountId } from "@coffer/domain/Ids"
import { withMessage } from "@coffer/domain/Message"
import { Email, type OrgName, ServiceAccountName } from "@coffer/domain/Names"
import { Effect, Option, Schema } from "effect"
import { NotThere, WrongUsage } from "../Failures.js"
import { note } from "../Output.js"
import { checked } from "./Checked.js"

/** A service account by name or id. No name has the form of an id. */
export const NameOrId = Schema.Union(ServiceAccountId, ServiceAccountName).annotations(
  withMessage("must be the name or the id of a service account")
)
export type NameOrId = typeof NameOrId.Type

const isId = Schema.is(ServiceAccountId)

/** The id of a service account. An id is not looked up: the caller may lack the right to list accounts. */
export const accountId = Effect.fnUntraced(function* (client: CofferClient, path: OrgPath, account: NameOrId) {
  if (isId(account)) return account
  const { data } = yield* client.call("serviceAccounts", (api) => api.list({ path }))
  const found = data.find(({ name }) => name === account)
  if (found !== undefined) return found.id
  return yield* new NotThere({
    message: `there is no service account ${account} in ${path.org_name}; coffer service-account list shows them`
  })
})

/** Names a service account that keeps working after its creator is removed. The name needs no escapes in quotes. */
export const noteAccount = (name: ServiceAccountName, org: OrgName) =>
  note(
    `service account ${name} was made by this person and goes on; to replace the key, which they may know: coffer service-account rotate '${name}' --org ${org}`
  )

export const email = checked("email", Email).pipe(Options.withDescription("The person, by e-mail"), Options.optional)

export const serviceAccount = checked("service-account", NameOrId).pipe(
  Options.withDescription("The service account, by name or id"),
  Options.optional
)

/** The subject of a rule, as the API names it. */
export type Subject =
  | { readonly subject_type: "user"; readonly email: Email }
  | { readonly subject_type: "service_account"; readonly subject_id: ServiceAccountId }

const subject = (named: Subject) => named

/** The subject that one of two options names. */
export const subjectOf = Effect.fnUntraced(function* (
  client: CofferClient,
  path: OrgPath,
  options: { readonly email: Option.Option<Email>; readonly serviceAccount: Option.Option<NameOrId> }
) {
  if (Option.isSome(options.email) && Option.isNone(options.serviceAccount)) {
    return subject({ subject_type: "user", email: options.email.value })
  }
  if (Option.isSome(options.serviceAccount) && Option.isNone(options.email)) {
    const subject_id = yield* accountId(client, path, options.serviceAccount.value)
    return subject({ subject_type: "service_account", subject_id })
  }
  return yield* new WrongUsage({ message: "name one subject: either --email or --service-account" })
})
