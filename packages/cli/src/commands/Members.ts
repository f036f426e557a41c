import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type { CofferClient } from "@coffer/domain/client/CofferClient"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { type Member, type Role, roles } from "@coffer/domain/Member"
import { Email } from "@coffer/domain/Names"
import { Effect, Option } from "effect"
import { NotThere } from "../Failures.js"
import { printDone, printList, printRecord } from "../Output.js"
import { confirm } from "../Prompts.js"
import { argument, atOrg, connect, settingsOf, yes } from "./Shared.js"
import { noteAccount } from "./Subjects.js"

const columns = {
  email: (member: Member) => member.email,
  name: (member: Member) => member.name,
  role: (member: Member) => member.role,
  since: (member: Member) => member.created_at
}

const list = Command.make("list", atOrg, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const members = yield* client.call("members", (api) => api.list({ path }))
    yield* printList(
      members,
      options.json,
      columns,
      "there are no members; invite one with: coffer member invite EMAIL"
    )
  })
).pipe(Command.withDescription("List the members and their roles. Example: coffer member list --json"))

const email = argument("EMAIL", Email, "The person's e-mail address")

const role = Options.choice("role", roles).pipe(
  Options.withDescription("What the person may do; member when left out"),
  Options.optional
)

const invite = Command.make("invite", { ...atOrg, email, role }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const payload = {
      email: options.email,
      ...(Option.isSome(options.role) ? { role: options.role.value } : {})
    }
    const member = yield* client.call("members", (api) => api.invite({ path, payload }))
    if (options.json) return yield* printRecord(member, true)
    yield* printDone(`${member.email} is now ${member.role} of ${path.org_name}`, false)
  })
).pipe(Command.withDescription("Invite a person. Example: coffer member invite grace@example.com --role developer"))

/** The id of a member that is named by e-mail. */
const memberId = Effect.fnUntraced(function* (client: CofferClient, path: OrgPath, email: Email) {
  const { data } = yield* client.call("members", (api) => api.list({ path }))
  const found = data.find((member) => member.email === email)
  if (found !== undefined) return found.user_id
  return yield* new NotThere({
    message: `${email} is not a member of ${path.org_name}; coffer member list shows who is`
  })
})

const newRole = Args.choice(
  roles.map((name): [string, Role] => [name, name]),
  { name: "ROLE" }
).pipe(Args.withDescription(`The new role: ${roles.join(", ")}`))

const setRole = Command.make("set-role", { ...atOrg, email, newRole }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const user_id = yield* memberId(client, path, options.email)
    const payload = { role: options.newRole }
    const member = yield* client.call("members", (api) => api.setRole({ path: { ...path, user_id }, payload }))
    if (options.json) return yield* printRecord(member, true)
    yield* printDone(`${member.email} is now ${member.role} of ${path.org_name}`, false)
  })
).pipe(Command.withDescription("Change a member's role. Example: coffer member set-role grace@example.com admin"))

const remove = Command.make("remove", { ...atOrg, email, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const user_id = yield* memberId(client, path, options.email)
    yield* confirm(
      `Remove ${options.email} from ${path.org_name}, with the access rules about this person?`,
      options.yes
    )
    yield* client.call("members", (api) => api.remove({ path: { ...path, user_id } }))
    yield* printDone(`${options.email} removed from ${path.org_name}`, options.json)
    const { data } = yield* client.call("serviceAccounts", (api) => api.list({ path }))
    for (const { created_by, name } of data) if (created_by === options.email) yield* noteAccount(name, path.org_name)
  })
).pipe(
  Command.withDescription(
    "Remove a member, with the access rules about it. Example: coffer member remove grace@example.com"
  )
)

export const memberCommand = Command.make("member").pipe(
  Command.withDescription("People in the organization"),
  Command.withSubcommands([list, invite, setRole, remove])
)
