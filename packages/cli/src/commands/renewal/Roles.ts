import { defined } from "@coffer/domain/base/Defined"
import { ConnectionName, LeaseRoleName } from "@coffer/domain/base/Names"
import { type LeaseRole, newLeaseRole } from "@coffer/domain/secrets/LeaseRole"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { asking, atEnv, group, wide, yes } from "../../grammar/Command.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { argument, option, repeatedOption, requiredOption } from "../../grammar/Fields.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView, recordView } from "../../terminal/View.js"

const name = argument("NAME", LeaseRoleName, "The role's name")

const columns = {
  name: (one: LeaseRole) => one.name,
  connection: ({ connection }: LeaseRole) => connection,
  "default ttl": ({ default_ttl }: LeaseRole) => default_ttl,
  "max ttl": ({ max_ttl }: LeaseRole) => max_ttl,
  "created by": ({ created_by }: LeaseRole) => created_by
}

const list = atEnv("list", {
  description: "List the roles by which callers lease users of databases",
  examples: ["coffer role list webshop/prod"],
  options: { place: optionalPlace, wide },
  place: inPlace,
  run: ({ call, path }) =>
    Effect.map(
      call("leaseRoles", (api) => api.list({ path })),
      (found) =>
        listView(
          found,
          columns,
          "there are no roles; make one with: coffer role create NAME --connection CONNECTION",
          ["name", "connection", "default ttl"],
          "look at one with: coffer role show NAME"
        )
    )
})

const fieldsOf = (one: LeaseRole) => ({
  name: one.name,
  connection: one.connection,
  ...Object.fromEntries(one.create.map((sql, index) => [`create ${index + 1}`, sql])),
  ...Object.fromEntries(one.revoke.map((sql, index) => [`revoke ${index + 1}`, sql])),
  "default ttl": one.default_ttl,
  "max ttl": one.max_ttl,
  "created by": one.created_by,
  "created at": one.created_at
})

const show = atEnv("show", {
  description: "Show a role with its statements",
  examples: ["coffer role show app-role --env prod"],
  options: { name },
  run: ({ call, options, path }) =>
    Effect.map(
      call("leaseRoles", (api) => api.get({ path: { ...path, role_name: options.name } })),
      (found) => ({ ...recordView(fieldsOf(found)), json: found })
    )
})

const statement = (option: string, text: string) => repeatedOption(option, Schema.NonEmptyString, text)

const create = atEnv("create", {
  description: "Let everyone who may read values in the environment lease users of a database",
  examples: ["coffer role create app-role --env prod --connection shop-db --default-ttl 1h --max-ttl 24h"],
  options: {
    name,
    connection: requiredOption("connection", ConnectionName, "The connection, as coffer connection list shows it"),
    create: statement(
      "create",
      "A statement that makes the user, with {{name}}, {{password}} and {{expires}}; may be given again"
    ),
    revoke: statement("revoke", "A statement that removes it, with {{name}}; may be given again"),
    defaultTtl: option("default-ttl", newLeaseRole.default_ttl.from, "How long a lease lasts; default: 1h"),
    maxTtl: option("max-ttl", newLeaseRole.max_ttl.from, "How long with all renewals; default: 24h"),
    ...asking
  },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const { connection, create, defaultTtl: default_ttl, maxTtl: max_ttl, name, revoke } = options
      const payload = {
        ...{ name, connection, ...defined({ default_ttl, max_ttl }) },
        ...(create.length > 0 && { create }),
        ...(revoke.length > 0 && { revoke })
      }
      const made = yield* call("leaseRoles", (api) => api.create({ path, payload }))
      return doneView(`role ${name} created; lease a user with: coffer lease create ${name}`, made)
    })
})

const remove = atEnv("delete", {
  description: "Remove a role, which must have no leases",
  examples: ["coffer role delete app-role --env prod"],
  options: { name, yes, ...asking },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Remove the role ${options.name}?`, options.yes)
      yield* call("leaseRoles", (api) => api.delete({ path: { ...path, role_name: options.name } }))
      return doneView(`role ${options.name} removed`)
    })
})

export const roleCommand = group("role", "How users of databases are made for each caller", [
  list,
  create,
  show,
  remove
])
