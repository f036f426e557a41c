import { defined } from "@coffer/domain/base/Defined"
import { LeaseId } from "@coffer/domain/base/Ids"
import { LeaseRoleName } from "@coffer/domain/base/Names"
import { type Lease, newLease } from "@coffer/domain/secrets/Lease"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomUUID } from "node:crypto"
import { atEnv, group, wide, yes } from "../../grammar/Command.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { argument, option } from "../../grammar/Fields.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView, recordView } from "../../terminal/View.js"

const id = argument("ID", LeaseId, "The lease's id, as coffer lease list shows it")
const ttl = option("ttl", newLease.ttl.from, "How long it lasts; default: what the role says")

const columns = {
  id: (one: Lease) => one.id,
  role: ({ role }: Lease) => role,
  holder: ({ holder }: Lease) => holder,
  user: ({ username }: Lease) => username,
  state: ({ ended, problem, state }: Lease) =>
    problem !== null ? `${state}: ${problem}` : ended !== null ? `${state}: ${ended}` : state,
  "expires at": ({ expires_at }: Lease) => expires_at,
  "renewable until": ({ renewable_until }: Lease) => renewable_until,
  "created at": ({ created_at }: Lease) => created_at,
  delegation: ({ delegation }: Lease) => delegation ?? ""
}

const list = atEnv("list", {
  description: "List your leases in the environment; for admins, all of them",
  examples: ["coffer lease list webshop/prod"],
  options: { place: optionalPlace, wide },
  place: inPlace,
  run: ({ call, path }) =>
    Effect.map(
      call("leases", (api) => api.list({ path })),
      (found) =>
        listView(
          found,
          columns,
          "there are no leases; make one with: coffer lease create ROLE",
          ["id", "role", "holder", "state", "expires at"],
          "end one with: coffer lease revoke ID"
        )
    )
})

const create = atEnv("create", {
  description: "Lease a user of a database, and print its password; coffer run --lease gives it to a command instead",
  examples: ["coffer lease create app-role --env prod --ttl 30m"],
  options: { role: argument("ROLE", LeaseRoleName, "The role, as its admin has named it"), ttl },
  run: ({ call, options: { role, ttl }, path }) =>
    Effect.gen(function* () {
      const headers = { "idempotency-key": randomUUID() }
      const made = yield* call("leases", (api) =>
        api.create({ path: { ...path, role_name: role }, payload: defined({ ttl }), headers })
      )
      const shown = { ...made, password: Redacted.value(made.password), url: Redacted.value(made.url) }
      return {
        ...recordView({
          ...{ id: shown.id, user: shown.username, password: shown.password, url: shown.url },
          ...{ "expires at": shown.expires_at, "renewable until": shown.renewable_until }
        }),
        json: shown
      }
    })
})

const renew = atEnv("renew", {
  description: "Let a lease last for longer",
  examples: ["coffer lease renew 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce --env prod"],
  options: { id, ttl },
  run: ({ call, options: { id, ttl }, path }) =>
    Effect.map(
      call("leases", (api) => api.renew({ path: { ...path, lease_id: id }, payload: defined({ ttl }) })),
      (renewed) => doneView(`lease ${id} lasts until ${renewed.expires_at}`, renewed)
    )
})

const revoke = atEnv("revoke", {
  description: "End a lease: its sessions end, and its user is removed within seconds",
  examples: ["coffer lease revoke 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce --env prod"],
  options: { id, yes },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`End the lease ${options.id}, and the sessions of its user?`, options.yes)
      yield* call("leases", (api) => api.revoke({ path: { ...path, lease_id: options.id } }))
      return doneView(`lease ${options.id} ends`)
    })
})

export const leaseCommand = group("lease", "Users of databases that are made for you, and end", [
  list,
  create,
  renew,
  revoke
])
