import type { LeaseId } from "@coffer/domain/base/Ids"
import type { ConnectionName } from "@coffer/domain/base/Names"
import { Conflict, UpstreamFailed } from "@coffer/domain/errors/Errors"
import { defaultSql } from "@coffer/domain/secrets/SqlTemplate"
import * as Effect from "effect/Effect"
import { Access, type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { Fence } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import { kinds, makeTargets } from "../connections/DatabaseAddresses.js"
import { DatabaseSlots } from "../connections/DatabaseSlots.js"
import { type ConnectionFailed, leasedUser } from "../connections/Kind.js"
import { leaseById, makeOrphans } from "../connections/OrphansIn.js"
import { makePasswords } from "../connections/Passwords.js"
import { connectionsRepo, type PlacedConnectionRow } from "../connections/Repo.js"
import { Versions } from "../stored/Versions.js"

const hour = 60 * 60 * 1_000
const day = 24 * hour
/** How many users an entry names at most. */
const mostNamed = 20

/** Removes a user that a lease made and no lease has, when an admin says so. */
export class Orphans extends Effect.Service<Orphans>()("@coffer/server/Orphans", {
  effect: Effect.gen(function* () {
    const audit = yield* AuditLog
    const connections = yield* connectionsRepo
    const passwordOf = yield* makePasswords
    const find = yield* leaseById
    const { targetOf } = yield* makeTargets
    const { inSlotSoon } = yield* DatabaseSlots

    const begin = method("Orphans.begin", function* (place: Place<"orphan.delete">, name: ConnectionName, id: LeaseId) {
      const row = yield* connections.find({ envId: place.env.id, name })
      if (row === undefined) return yield* notFound(`connection ${name}`)
      if ((yield* find({ id })) !== undefined) {
        return yield* new Conflict({ message: `the lease ${id} has the user: end it with coffer lease revoke ${id}` })
      }
      const username = leasedUser(id)
      const failed = ({ message }: ConnectionFailed) =>
        new UpstreamFailed({ message: `connection ${name}: ${message}` })
      const { password, version } = yield* Effect.catchTag(passwordOf(place, row), "ConnectionFailed", failed)
      yield* audit.change(sourceOf(place), {
        action: place.action,
        resource_type: "lease",
        resource_id: id,
        metadata: { connection: name, username, key: row.password_key, version }
      })
      yield* connections.lookAgain({ id: row.id, millis: 0 })
      return { row, password, username, failed }
    })

    const finish = traced("Orphans.finish")(
      ({ failed, password, row, username }: Effect.Effect.Success<ReturnType<typeof begin>>) =>
        Effect.flatMap(targetOf(row, { user: row.login, password }), (target) =>
          inSlotSoon(row)(kinds[row.kind].remove(target, username, defaultSql[row.kind].revoke))
        ).pipe(Effect.catchTag("ConnectionFailed", failed))
    )

    return { begin, finish } as const
  }),
  dependencies: [Versions.Default, DatabaseSlots.Default]
}) {}

/** Looks once a day for the users that no lease has. A database that does not respond is looked at again in an hour. */
export const makeOrphanLooks = Effect.gen(function* () {
  const repo = yield* connectionsRepo
  const orphansIn = yield* makeOrphans
  const passwordOf = yield* makePasswords
  const { targetOf } = yield* makeTargets
  const { inSlot } = yield* DatabaseSlots
  const access = yield* Access
  const audit = yield* AuditLog
  const fenced = yield* Fence

  return ({ name, ...placed }: PlacedConnectionRow): Effect.Effect<void> =>
    Effect.gen(function* () {
      const row = yield* repo.byId({ id: placed.id })
      if (row === undefined) return
      const place = access.renewing({ ...placed, name }, "connection")
      const { password } = yield* passwordOf(place, row)
      const target = yield* targetOf(row, { user: row.login, password })
      const found = yield* inSlot(row)(orphansIn(kinds[row.kind], target))
      const entry = audit.change(sourceOf(place), {
        action: "orphan.found",
        resource_type: "connection",
        resource_id: row.id,
        metadata: {
          ...{ connection: name, count: found.length },
          users: found.slice(0, mostNamed).map(({ username }) => username)
        }
      })
      yield* fenced(
        Effect.zipRight(
          repo.looked({ id: row.id, orphans: found.length, millis: day }),
          found.length > row.orphans ? entry : Effect.void
        ),
        [orgScope(placed.org_id)]
      )
    }).pipe(Effect.catchAll(() => fenced(repo.lookAgain({ id: placed.id, millis: hour }), [orgScope(placed.org_id)])))
})
