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

/** A service account, as people name it. Its name is never of an id's form. */
export const NameOrId = Schema.Union(ServiceAccountId, ServiceAccountName).annotations(
  withMessage("must be the name or the id of a service account")
)
export type NameOrId = typeof NameOrId.Type

const isId = Schema.is(ServiceAccountId)

/** The id of a service account. An id is taken as it is: who may manage rules may not always list accounts. */
export const accountId = Effect.fnUntraced(function* (client: CofferClient, path: OrgPath, account: NameOrId) {
  if (isId(account)) return account
  const { data } = yield* client.call((api) => api.serviceAccounts.list({ path }))
  const found = data.find(({ name }) => name === account)
  if (found !== undefined) return found.id
  return yield* new NotThere({
    message: `there is no service account ${account} in ${path.org_name}; coffer service-account list shows them`
  })
})

/** Tells of a service account that goes on when the person who made it goes. Its name needs no escapes inside quotes. */
export const noteAccount = (name: ServiceAccountName, org: OrgName) =>
  note(
    `service account ${name} was made by this person and goes on; to replace the key, which they may know: coffer service-account rotate '${name}' --org ${org}`
  )

export const email = checked("email", Email).pipe(Options.withDescription("The person, by e-mail"), Options.optional)

export const serviceAccount = checked("service-account", NameOrId).pipe(
  Options.withDescription("The service account, by name or id"),
  Options.optional
)

/** Whom a rule is about, as the API names it. */
export type Subject =
  | { readonly subject_type: "user"; readonly email: Email }
  | { readonly subject_type: "service_account"; readonly subject_id: ServiceAccountId }

const subject = (named: Subject) => named

/** The subject that is named by one of two options. */
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
