import type { EnvPath } from "@coffer/domain/api/Paths"
import type { ConnectionName } from "@coffer/domain/base/Names"
import type { Orphan } from "@coffer/domain/secrets/Connection"
import * as Effect from "effect/Effect"
import { CannotDo } from "../../base/Failures.js"
import { atEnv, type Call, yes } from "../../grammar/Command.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"

interface Found extends Orphan {
  readonly connection: ConnectionName
}

/** Asks the database of each connection. One that does not respond fails the command: its users are not known. */
const found = (call: Call, path: EnvPath) =>
  Effect.gen(function* () {
    const { data } = yield* call("connections", (api) => api.list({ path }))
    const all: Array<Found> = []
    for (const { name } of data) {
      const { ok, orphans, problem } = yield* call("connections", (api) =>
        api.test({ path: { ...path, connection_name: name } })
      )
      if (!ok) return yield* new CannotDo({ message: `connection ${name}: ${problem ?? "the login failed"}` })
      for (const orphan of orphans) {
        // Several connections may lead to one database.
        if (all.every(({ username }) => username !== orphan.username)) all.push({ connection: name, ...orphan })
      }
    }
    return all
  })

const columns = {
  connection: ({ connection }: Found) => connection,
  user: ({ username }: Found) => username,
  "lease id": ({ lease_id }: Found) => lease_id
}

/** Removes the users, or lists them. */
export const orphans = atEnv("orphans", {
  description: "List users in the databases that leases made and no lease has; --yes removes them",
  examples: ["coffer rotation orphans webshop/prod", "coffer rotation orphans webshop/prod --yes"],
  options: { place: optionalPlace, yes },
  place: inPlace,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const all = yield* found(call, path)
      if (!options.yes || all.length === 0) {
        return listView(
          { data: all },
          columns,
          "there are no users without a lease",
          ["connection", "user", "lease id"],
          "another server may have leases there; if none has, remove them with: coffer rotation orphans --yes"
        )
      }
      yield* confirm(`Remove ${all.length} users from the databases?`, options.yes)
      for (const { connection: connection_name, lease_id } of all) {
        yield* call("connections", (api) => api.removeOrphan({ path: { ...path, connection_name, lease_id } }))
      }
      return doneView(`${all.length === 1 ? "1 user" : `${all.length} users`} removed`, { data: all })
    })
})
