import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { Days, Grace } from "@coffer/domain/api/ServiceAccountsApi"
import { ProjectName, ServiceAccountName } from "@coffer/domain/Names"
import type { ServiceAccount, ServiceAccountWithKey } from "@coffer/domain/ServiceAccount"
import { Effect, Option, Redacted } from "effect"
import { note, printDone, printJson, printList, write } from "../Output.js"
import { confirm } from "../Prompts.js"
import { checked, wholeNumber } from "./Checked.js"
import { argument, atOrg, connect, settingsOf, yes } from "./Shared.js"
import { accountId, NameOrId } from "./Subjects.js"

const columns = {
  id: (account: ServiceAccount) => account.id,
  name: (account: ServiceAccount) => account.name,
  project: (account: ServiceAccount) => account.project,
  reveal: (account: ServiceAccount) => (account.reveal ? "yes" : "no"),
  key: (account: ServiceAccount) => `…${account.key_hint}`,
  expires: (account: ServiceAccount) => account.expires_at,
  "last used": (account: ServiceAccount) => account.last_used_at
}

const list = Command.make("list", atOrg, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const accounts = yield* client.call("serviceAccounts", (api) => api.list({ path }))
    yield* printList(
      accounts,
      options.json,
      columns,
      "there are no service accounts; make one with: coffer service-account create NAME"
    )
  })
).pipe(Command.withDescription("List the service accounts. Example: coffer service-account list --json"))

/** Prints only the key to standard output, for scripts. */
const printKey = Effect.fnUntraced(function* (account: ServiceAccountWithKey, json: boolean, sentence: string) {
  const api_key = Redacted.value(account.api_key)
  yield* json ? printJson({ ...account, api_key }) : write(`${api_key}\n`)
  yield* note(`${sentence}; the key is shown this once: keep it where its program finds it, as SERVICE_API_KEY`)
})

const name = argument("NAME", ServiceAccountName, "The service account's name")

// Not the shared option: the project of `service.yml` must not scope an account.
const project = checked("project", ProjectName).pipe(
  Options.withDescription("Bind it to this project; left out, it can be given access to all of the organization"),
  Options.optional
)

const noReveal = Options.boolean("no-reveal").pipe(
  Options.withDescription("Never give it a value: it can write, list, copy and roll back, but not read")
)

const expiresInDays = wholeNumber("expires-in-days", Days).pipe(
  Options.withDescription("End its key by itself after so many days"),
  Options.optional
)

const create = Command.make("create", { ...atOrg, name, project, noReveal, expiresInDays }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf({ serverUrl: options.serverUrl, org: options.org })
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const payload = {
      name: options.name,
      ...(Option.isSome(options.project) ? { project: options.project.value } : {}),
      ...(options.noReveal ? { reveal: false } : {}),
      ...(Option.isSome(options.expiresInDays) ? { expires_in_days: options.expiresInDays.value } : {})
    }
    const made = yield* client.call("serviceAccounts", (api) => api.create({ path, payload }))
    yield* printKey(
      made,
      options.json,
      `service account ${made.name} created in ${path.org_name}; give it access with coffer acl grant`
    )
  })
).pipe(
  Command.withDescription(
    "Create a service account and print its key, once. Example: coffer service-account create ci --project webshop --expires-in-days 90"
  )
)

const nameOrId = argument("NAME_OR_ID", NameOrId, "The service account, by name or id")

const grace = wholeNumber("grace", Grace).pipe(
  Options.withDescription("Keep the old key good for so many seconds; 0 when left out, 604800 (7 days) at most"),
  Options.optional
)

const rotate = Command.make("rotate", { ...atOrg, nameOrId, grace }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const sa_id = yield* accountId(client, path, options.nameOrId)
    const payload = Option.isSome(options.grace) ? { grace_seconds: options.grace.value } : {}
    const account = yield* client.call("serviceAccounts", (api) => api.rotate({ path: { ...path, sa_id }, payload }))
    const seconds = Option.getOrElse(options.grace, () => 0)
    const old = seconds === 0 ? "its old key is good no more" : `its old key stays good for ${seconds} s`
    yield* printKey(account, options.json, `service account ${account.name} has a new key; ${old}`)
  })
).pipe(
  Command.withDescription(
    "Give a service account a new key and print it, once. Example: coffer service-account rotate ci --grace 3600"
  )
)

const revoke = Command.make("revoke", { ...atOrg, nameOrId, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const sa_id = yield* accountId(client, path, options.nameOrId)
    yield* confirm(`Revoke the service account ${options.nameOrId}, with its access rules?`, options.yes)
    yield* client.call("serviceAccounts", (api) => api.revoke({ path: { ...path, sa_id } }))
    yield* printDone(`service account ${options.nameOrId} revoked`, options.json)
  })
).pipe(
  Command.withDescription(
    "End a service account and its key, with its access rules. Example: coffer service-account revoke ci"
  )
)

export const serviceAccountCommand = Command.make("service-account").pipe(
  Command.withDescription("Accounts for programs, which call with an API key"),
  Command.withSubcommands([list, create, rotate, revoke])
)
