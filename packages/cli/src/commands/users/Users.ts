import { EmailPrefix } from "@coffer/domain/directory/UserRecord"
import { Email } from "@coffer/domain/base/Names"
import { LimitParameter } from "@coffer/domain/base/Schemas"
import { UserCursor } from "@coffer/domain/directory/UserCursor"
import type { UserRecord } from "@coffer/domain/directory/UserRecord"
import * as Effect from "effect/Effect"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell } from "../../base/Moments.js"
import { NotThere } from "../../base/Failures.js"
import { atServer, type Call, group, wide, yes } from "../../grammar/Command.js"
import { argument, option } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { noteAccount } from "../../subjects/Subjects.js"
import { note } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView, recordView } from "../../terminal/View.js"

const columns = {
  email: (user: UserRecord) => user.email,
  name: (user: UserRecord) => user.name,
  superadmin: (user: UserRecord) => (user.is_superadmin ? "yes" : "no"),
  disabled: (user: UserRecord) => momentCell(user.disabled_at),
  "last seen": (user: UserRecord) => momentCell(user.last_seen_at),
  organizations: (user: UserRecord) => user.organizations,
  sessions: (user: UserRecord) => user.sessions
}

const list = atServer("list", {
  description: "List the people whom the server knows",
  examples: ["coffer user list --disabled", "coffer user list --email grace --limit 10"],
  options: {
    prefix: option("email", EmailPrefix),
    disabled: flag("disabled", "Only people who are disabled"),
    limit: option("limit", LimitParameter),
    after: option("after", UserCursor),
    wide
  },
  run: ({ call, options: { after, disabled, limit, prefix } }) =>
    Effect.gen(function* () {
      const urlParams = defined({ email: prefix, disabled: disabled ? ("true" as const) : undefined, limit, after })
      const page = yield* call("users", (api) => api.list({ urlParams }))
      const { next_cursor } = page.pagination
      const { json, text } = listView(page, columns, "there are no such people", ["email", "last seen", "disabled"])
      if (next_cursor === null) return { json, text }
      return { json, text: Effect.zipRight(text, note(`there are more; continue with --after ${next_cursor}`)) }
    })
})

const email = argument("EMAIL", Email, "The person's e-mail address")

/** Finds a person by address. The list is sorted, so that the exact address comes before longer ones. */
const person = Effect.fnUntraced(function* (call: Call, address: Email) {
  const { data } = yield* call("users", (api) => api.list({ urlParams: { email: address, limit: 1 } }))
  const [first] = data
  if (first?.email === address) return first
  return yield* new NotThere({ message: `nobody has the address ${address} here; coffer user list shows who is known` })
})

const show = atServer("show", {
  description: "Show one person",
  examples: ["coffer user show grace@example.com"],
  options: { email },
  run: ({ call, options }) => Effect.map(person(call, options.email), recordView)
})

const disable = atServer("disable", {
  description: "Leave a person no way in, and list the service accounts that the person made",
  examples: ["coffer user disable grace@example.com"],
  options: { email, yes },
  run: ({ call, options }) =>
    Effect.gen(function* () {
      const { id: user_id } = yield* person(call, options.email)
      yield* confirm(`Disable ${options.email}, and end this person's sessions?`, options.yes)
      const user = yield* call("users", (api) => api.disable({ path: { user_id } }))
      const { json, text } = doneView(`${user.email} is disabled: sessions and login codes have ended`, user)
      const accounts = Effect.forEach(user.service_accounts, ({ name, org }) => noteAccount(name, org))
      return { json, text: Effect.zipLeft(text, accounts) }
    })
})

const enable = atServer("enable", {
  description: "Let a disabled person log in again",
  examples: ["coffer user enable grace@example.com"],
  options: { email },
  run: ({ call, options }) =>
    Effect.gen(function* () {
      const { id: user_id } = yield* person(call, options.email)
      const user = yield* call("users", (api) => api.enable({ path: { user_id } }))
      return doneView(`${user.email} may log in again`, user)
    })
})

const endSessions = atServer("end-sessions", {
  description: "End a person's sessions on all machines",
  examples: ["coffer user end-sessions grace@example.com"],
  options: { email, yes },
  run: ({ call, options }) =>
    Effect.gen(function* () {
      const { id: user_id } = yield* person(call, options.email)
      yield* confirm(`End all sessions of ${options.email}, on all machines?`, options.yes)
      const user = yield* call("users", (api) => api.endSessions({ path: { user_id } }))
      return doneView(`all sessions of ${user.email} have ended`, user)
    })
})

export const userCommand = group("user", "The people whom the server knows, for its superadmins", [
  list,
  show,
  disable,
  enable,
  endSessions
])
