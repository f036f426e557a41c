import { defined } from "@coffer/domain/base/Defined"
import { ConnectionName } from "@coffer/domain/base/Names"
import { type Connection, newConnection } from "@coffer/domain/secrets/Connection"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CannotDo } from "../../base/Failures.js"
import { asking, atEnv, group, wide, yes } from "../../grammar/Command.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { argument, option, requiredOption } from "../../grammar/Fields.js"
import { readBytes, sourceOf } from "../../terminal/Bytes.js"
import { confirm } from "../../terminal/Prompts.js"
import { printFields } from "../../terminal/Print.js"
import { doneView, listView } from "../../terminal/View.js"

const name = argument("NAME", ConnectionName, "The connection's name")

const addressOf = ({ database, host, port }: Connection): string => `${host}:${port}/${database}`

const columns = {
  name: (one: Connection) => one.name,
  kind: ({ kind }: Connection) => kind,
  address: addressOf,
  user: ({ user }: Connection) => user,
  "password key": ({ password_key }: Connection) => password_key,
  orphans: ({ orphans }: Connection) => String(orphans),
  tls: ({ ca, tls }: Connection) => (ca === null ? tls : `${tls}, own CA`),
  "created by": ({ created_by }: Connection) => created_by
}

const list = atEnv("list", {
  description: "List the databases that the server logs in to, to renew credentials of the environment",
  examples: ["coffer connection list webshop/prod"],
  options: { place: optionalPlace, wide },
  place: inPlace,
  run: ({ call, path }) =>
    Effect.map(
      call("connections", (api) => api.list({ path })),
      (found) =>
        listView(
          found,
          columns,
          "there are no connections; make one with: coffer connection create NAME --host HOST",
          ["name", "address", "user"],
          "try one with: coffer connection test NAME"
        )
    )
})

const tooLarge = new CannotDo({ message: "--ca: the file has more than 64 KiB" })

const create = atEnv("create", {
  description: "Let the server log in to a database, with a password that is a secret of the environment",
  examples: [
    "coffer connection create shop-db --env prod --host db.internal.example.com --database shop --user renewer --password-key RENEWER_PASSWORD"
  ],
  options: {
    name,
    kind: option(
      "kind",
      newConnection.kind.from,
      "Its kind: postgres, mysql (also for MariaDB), or http (a program of your own); default: postgres"
    ),
    host: requiredOption("host", newConnection.host.from, "The host's name or address"),
    port: option("port", newConnection.port.from, "Its port; default: 5432, 3306 for mysql, 443 for http"),
    database: requiredOption("database", newConnection.database.from, "The database"),
    user: requiredOption("user", newConnection.user.from, "The user to log in with"),
    passwordKey: requiredOption("password-key", newConnection.password_key.from, "The secret with the user's password"),
    tls: option("tls", newConnection.tls.from, "How the certificate is checked; default: verify-full"),
    ca: option("ca", Schema.NonEmptyString, "A file with the certificates to trust, in PEM"),
    ...asking
  },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const { database, host, kind, name, passwordKey: password_key, port, tls, user } = options
      const ca =
        options.ca === undefined ? undefined : (yield* readBytes(sourceOf(options.ca), 65_536, tooLarge)).toString()
      const payload = { name, host, database, user, password_key, ...defined({ kind, port, tls, ca }) }
      const made = yield* call("connections", (api) => api.create({ path, payload }))
      return doneView(
        `connection ${name} to ${addressOf(made)} created; try it with: coffer connection test ${name}`,
        made
      )
    })
})

const test = atEnv("test", {
  description: "Log in by a connection, and show what its user may do; nothing is changed",
  examples: ["coffer connection test shop-db --env prod"],
  options: { name },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const found = yield* call("connections", (api) => api.test({ path: { ...path, connection_name: options.name } }))
      const { may_change, may_create, ok, orphans, problem, version } = found
      if (!ok) return yield* new CannotDo({ message: `connection ${options.name}: ${problem ?? "the login failed"}` })
      const fields = {
        ...{ version, "may create users": may_create, "may change passwords": may_change },
        "users without a lease": orphans.length
      }
      return { json: found, text: printFields(fields) }
    })
})

const remove = atEnv("delete", {
  description: "Remove a connection; the users in the database and their passwords stay",
  examples: ["coffer connection delete shop-db --env prod"],
  options: { name, yes, ...asking },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Remove the connection ${options.name}?`, options.yes)
      yield* call("connections", (api) => api.delete({ path: { ...path, connection_name: options.name } }))
      return doneView(`connection ${options.name} removed`)
    })
})

export const connectionCommand = group("connection", "Databases that the server logs in to, to renew credentials", [
  list,
  create,
  test,
  remove
])
