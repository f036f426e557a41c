import * as Command from "@effect/cli/Command"
import type { Organization } from "@coffer/domain/Organization"
import { OrgName } from "@coffer/domain/Names"
import { Effect } from "effect"
import { printDone, printList, printRecord } from "../Output.js"
import { confirm } from "../Prompts.js"
import { argument, atOrg, atServer, connect, settingsOf, yes } from "./Shared.js"

const columns = {
  name: (org: Organization) => org.name,
  role: (org: Organization) => org.role,
  created: (org: Organization) => org.created_at
}

const list = Command.make("list", atServer, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const orgs = yield* client.call("organizations", (api) => api.list({}))
    yield* printList(orgs, options.json, columns, "you are in no organization; make one with: coffer org create NAME")
  })
).pipe(Command.withDescription("List your organizations. Example: coffer org list --json"))

const name = argument("NAME", OrgName, "The organization's name")

const create = Command.make("create", { ...atServer, name }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const client = yield* connect(yield* settings.server)
    const made = yield* client.call("organizations", (api) => api.create({ payload: { name: options.name } }))
    yield* options.json ? printRecord(made, true) : printDone(`organization ${made.name} created`, false)
  })
).pipe(Command.withDescription("Create an organization; you become its owner. Example: coffer org create acme"))

const get = Command.make("get", atOrg, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    yield* printRecord(yield* client.call("organizations", (api) => api.get({ path })), options.json)
  })
).pipe(Command.withDescription("Show the organization. Example: coffer org get --org acme"))

const newName = argument("NEW", OrgName, "The new name")

const rename = Command.make("rename", { ...atOrg, newName }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    const payload = { name: options.newName }
    const renamed = yield* client.call("organizations", (api) => api.rename({ path, payload }))
    if (options.json) return yield* printRecord(renamed, true)
    yield* printDone(`organization ${path.org_name} is now called ${renamed.name}`, false)
  })
).pipe(Command.withDescription("Rename the organization. Example: coffer org rename acme-inc"))

const remove = Command.make("delete", { ...atOrg, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.orgPath
    const client = yield* connect(yield* settings.server)
    yield* confirm(`Delete the organization ${path.org_name} with all its projects and secrets?`, options.yes)
    yield* client.call("organizations", (api) => api.delete({ path }))
    yield* printDone(`organization ${path.org_name} deleted`, options.json)
  })
).pipe(Command.withDescription("Delete the organization, with everything in it. Example: coffer org delete --org acme"))

export const orgCommand = Command.make("org").pipe(
  Command.withDescription("Organizations"),
  Command.withSubcommands([list, create, get, rename, remove])
)
