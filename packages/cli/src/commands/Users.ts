import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type { CofferClient } from "@coffer/domain/client/CofferClient"
import { EmailPrefix } from "@coffer/domain/api/UsersApi"
import { Email } from "@coffer/domain/Names"
import { LimitParameter } from "@coffer/domain/Schemas"
import { UserCursor } from "@coffer/domain/UserCursor"
import type { UserRecord } from "@coffer/domain/UserRecord"
import { Effect, Option } from "effect"
import { NotThere } from "../Failures.js"
import { note, printDone, printJson, printList, printRecord } from "../Output.js"
import { confirm } from "../Prompts.js"
import { checked, wholeNumber } from "./Checked.js"
import { argument, atServer, connect, settingsOf, yes } from "./Shared.js"
import { noteAccount } from "./Subjects.js"

const columns = {
  email: (user: UserRecord) => user.email,
  name: (user: UserRecord) => user.name,
  superadmin: (user: UserRecord) => (user.is_superadmin ? "yes" : "no"),
  disabled: (user: UserRecord) => user.disabled_at,
  "last seen": (user: UserRecord) => user.last_seen_at,
  organizations: (user: UserRecord) => user.organizations,
  sessions: (user: UserRecord) => user.sessions
}

const prefix = checked("email", EmailPrefix).pipe(
  Options.withDescription("Only people whose addresses begin so"),
  Options.optional
)
const disabled = Options.boolean("disabled").pipe(Options.withDescription("Only people who are disabled"))
const limit = wholeNumber("limit", LimitParameter).pipe(
  Options.withDescription("How many people; 50 when left out, 100 at most"),
  Options.optional
)
const after = checked("after", UserCursor).pipe(
  Options.withDescription("Go on behind an earlier page: its next_cursor"),
  Options.optional
)

const list = Command.make("list", { ...atServer, prefix, disabled, limit, after }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const page = yield* client.call("users", (api) =>
      api.list({
        urlParams: {
          ...(Option.isSome(options.prefix) && { email: options.prefix.value }),
          ...(options.disabled && { disabled: "true" as const }),
          ...(Option.isSome(options.limit) && { limit: options.limit.value }),
          ...(Option.isSome(options.after) && { after: options.after.value })
        }
      })
    )
    yield* printList(page, options.json, columns, "there are no such people")
    const { next_cursor } = page.pagination
    if (next_cursor !== null && !options.json) yield* note(`there are more; go on with --after ${next_cursor}`)
  })
).pipe(Command.withDescription("List the people whom the server knows. Example: coffer user list --disabled"))

const email = argument("EMAIL", Email, "The person's e-mail address")

/** Finds a person by address. The list is sorted, so that the exact address comes before longer ones. */
const person = Effect.fnUntraced(function* (client: CofferClient, address: Email) {
  const { data } = yield* client.call("users", (api) => api.list({ urlParams: { email: address, limit: 1 } }))
  const [first] = data
  if (first?.email === address) return first
  return yield* new NotThere({ message: `nobody has the address ${address} here; coffer user list shows who is known` })
})

const show = Command.make("show", { ...atServer, email }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    yield* printRecord(yield* person(client, options.email), options.json)
  })
).pipe(Command.withDescription("Show one person. Example: coffer user show grace@example.com"))

const disable = Command.make("disable", { ...atServer, email, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const { id: user_id } = yield* person(client, options.email)
    yield* confirm(`Disable ${options.email}, and end this person's sessions?`, options.yes)
    const user = yield* client.call("users", (api) => api.disable({ path: { user_id } }))
    if (options.json) return yield* printJson(user)
    yield* printDone(`${user.email} is disabled: sessions and login codes have ended`, false)
    for (const { name, org } of user.service_accounts) yield* noteAccount(name, org)
  })
).pipe(
  Command.withDescription(
    "Leave a person no way in, and list the service accounts that the person made. Example: coffer user disable grace@example.com"
  )
)

const enable = Command.make("enable", { ...atServer, email }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const { id: user_id } = yield* person(client, options.email)
    const user = yield* client.call("users", (api) => api.enable({ path: { user_id } }))
    if (options.json) return yield* printJson(user)
    yield* printDone(`${user.email} may log in again`, false)
  })
).pipe(Command.withDescription("Let a disabled person log in again. Example: coffer user enable grace@example.com"))

const endSessions = Command.make("end-sessions", { ...atServer, email, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const { id: user_id } = yield* person(client, options.email)
    yield* confirm(`End all sessions of ${options.email}, on all machines?`, options.yes)
    const user = yield* client.call("users", (api) => api.endSessions({ path: { user_id } }))
    if (options.json) return yield* printJson(user)
    yield* printDone(`all sessions of ${user.email} have ended`, false)
  })
).pipe(
  Command.withDescription(
    "End a person's sessions on all machines. Example: coffer user end-sessions grace@example.com"
  )
)

export const userCommand = Command.make("user").pipe(
  Command.withDescription("The people whom the server knows, for its superadmins"),
  Command.withSubcommands([list, show, disable, enable, endSessions])
)
