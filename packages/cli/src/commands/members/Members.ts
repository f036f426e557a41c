import type { OrgPath } from "@coffer/domain/api/Paths"
import { type Member, Role } from "@coffer/domain/directory/Member"
import { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { momentCell } from "../../base/Moments.js"
import { NotThere } from "../../base/Failures.js"
import { atOrg, type Call, group, wide, yes } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { completedBy } from "../../grammar/Specs.js"
import { noteAccount } from "../../subjects/Subjects.js"
import { questionAbout } from "../../grammar/Words.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView, printView } from "../../terminal/View.js"
import { invite } from "./Invite.js"

const columns = {
  email: (member: Member) => member.email,
  name: (member: Member) => member.name,
  role: (member: Member) => member.role,
  since: (member: Member) => momentCell(member.created_at)
}

/** The columns that only admins see. */
const adminColumns = {
  access: (member: Member) => (member.has_access === true ? "yes" : "none yet"),
  seen: (member: Member) => (member.accepted === false ? "invited" : (momentCell(member.last_seen_at) ?? "never"))
}

const list = atOrg("list", {
  description: "List the members and their roles",
  examples: ["coffer member list", "coffer member list --json"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      call("members", (api) => api.list({ path })),
      (members) => {
        const isAdmin = members.data.some(({ has_access }) => has_access !== undefined)
        const shown = { ...columns, ...(isAdmin && adminColumns) }
        return listView(members, shown, "there are no members; invite one with: coffer member invite EMAIL", [
          "email",
          "role",
          "access",
          "seen"
        ])
      }
    )
})

const email = completedBy("member", argument("EMAIL", Email, "The person's e-mail address"))

const hasRole = (member: Member, { org_name }: OrgPath) =>
  doneView(`${member.email} is now ${member.role} of ${org_name}`, member)

/** The id of a member that is named by e-mail. */
const memberId = Effect.fnUntraced(function* (call: Call, path: OrgPath, email: Email) {
  const { data } = yield* call("members", (api) => api.list({ path }))
  const found = data.find((member) => member.email === email)
  if (found !== undefined) return found.user_id
  return yield* new NotThere({
    message: `${email} is not a member of ${path.org_name}${questionAbout(
      email,
      data.map((member) => member.email)
    )} coffer member list shows who is`
  })
})

const setRole = atOrg("set-role", {
  description: "Change a member's role",
  examples: ["coffer member set-role grace@example.com admin"],
  options: { email, role: argument("ROLE", Role, "The new role") },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const user_id = yield* memberId(call, path, options.email)
      const payload = { role: options.role }
      const member = yield* call("members", (api) => api.setRole({ path: { ...path, user_id }, payload }))
      return hasRole(member, path)
    })
})

const remove = atOrg("remove", {
  description: "Remove a member, with the access rules about it",
  examples: ["coffer member remove grace@example.com"],
  options: { email, yes },
  run: ({ call, json, options, path }) =>
    Effect.gen(function* () {
      const user_id = yield* memberId(call, path, options.email)
      const question = `Remove ${options.email} from ${path.org_name}, with the access rules about this person?`
      yield* confirm(question, options.yes)
      yield* call("members", (api) => api.remove({ path: { ...path, user_id } }))
      yield* printView(doneView(`${options.email} removed from ${path.org_name}`), json)
      const { data } = yield* call("serviceAccounts", (api) => api.list({ path }))
      for (const { created_by, name } of data) if (created_by === options.email) yield* noteAccount(name, path.org_name)
    })
})

export const memberCommand = group("member", "People in the organization", [list, invite, setRole, remove])
