import type { LeaseId } from "@coffer/domain/base/Ids"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Access, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database } from "../../database/Database.js"
import { Fence } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import { kinds, makeTargets } from "../connections/DatabaseAddresses.js"
import { DatabaseSlots } from "../connections/DatabaseSlots.js"
import { makePasswords } from "../connections/Passwords.js"
import { connectionsRepo } from "../connections/Repo.js"
import { leaseEnds } from "./LeaseMetrics.js"
import { statementsOf } from "./LeaseRoles.js"
import { leasePasswords } from "./Leases.js"
import type { LostLease } from "./LostRights.js"
import { leasesRepo, type PlacedLeaseRow } from "./Repo.js"

/** The row is not the one that was read any more: it was removed, or another try has failed. */
class Superseded extends Data.TaggedError("Superseded") {}

/** How long a removal waits that has failed so often: 1 second to 10 minutes. */
export const removalBackoff = (failures: number): number => Math.min(1_000 * 2 ** (failures - 1), 600_000)

/**
 * How many tries fail before the user is left in the database: about a week. If the values of its place wait to be erased, about an
 * hour: the connection's password is one of them.
 */
export const mostFailures = ({ is_erasing }: Pick<PlacedLeaseRow, "is_erasing">): number =>
  is_erasing === 1 ? 15 : 1_000

/** The failures that the log has: the first, and one that lasts for about 10 minutes. */
const recordedFailures: ReadonlySet<number> = new Set([1, 10])

const orSuperseded = (rows: ReadonlyArray<unknown>) => (rows.length === 0 ? new Superseded() : Effect.void)

/**
 * The end of a lease. A kill between two steps repeats the later one:
 *
 * | step                                      | killed before the next one is stored                    |
 * | ----------------------------------------- | ------------------------------------------------------- |
 * | the row is committed, `making`            | due in a minute: it ends, whether or not there is a user |
 * | the database makes the user               | it commits only after the row is `live`                 |
 * | the row is `ending`, by a call or a loss  | the removal begins again                                |
 * | the database removes the user             | there is no such user: the row goes                     |
 */
export const makeLeaseEnds = Effect.gen(function* () {
  const repo = yield* leasesRepo
  const connections = yield* connectionsRepo
  const sealed = yield* leasePasswords
  const passwordOf = yield* makePasswords
  const { targetOf } = yield* makeTargets
  const { inSlot } = yield* DatabaseSlots
  const access = yield* Access
  const audit = yield* AuditLog
  const fenced = yield* Fence
  const { clock } = yield* Database

  const placeOf = ({ role: name, ...row }: PlacedLeaseRow) => access.renewing({ ...row, name }, "lease")

  const record = (row: PlacedLeaseRow, action: "lease.ended" | "lease.failed" | "lease.left", metadata: object) =>
    audit.change(sourceOf(placeOf(row)), {
      action,
      resource_type: "lease",
      resource_id: row.id,
      metadata: { role: row.role, username: row.username, holder: row.actor_name, ...metadata }
    })

  /** Ends leases whose holders have lost the right. */
  const endLost = ({ id, orgId, reason }: LostLease) =>
    Effect.asVoid(fenced(repo.end({ id, reason }), [orgScope(orgId)]))

  const inOrganization = ({ org_id }: PlacedLeaseRow) => [orgScope(org_id)]

  const connectionOf = (row: PlacedLeaseRow) =>
    Effect.flatMap(connections.byId({ id: row.connection_id }), (connection) =>
      connection === undefined ? Effect.dieMessage("a role has no connection") : Effect.succeed(connection)
    )

  /** Removes the row, with its entry. */
  const forget = (row: PlacedLeaseRow, action: "lease.ended" | "lease.left", metadata: object) =>
    fenced(
      Effect.flatMap(repo.remove({ id: row.id }), orSuperseded).pipe(
        Effect.zipRight(sealed.forget(row.id)),
        Effect.zipRight(record(row, action, metadata))
      ),
      inOrganization(row)
    )

  const remove = (row: PlacedLeaseRow, reason: string) =>
    Effect.gen(function* () {
      const connection = yield* connectionOf(row)
      const { password } = yield* passwordOf(placeOf(row), connection)
      const target = yield* targetOf(connection, { user: connection.login, password })
      const statements = yield* statementsOf(row.revoke_sql)
      yield* inSlot(connection)(kinds[connection.kind].remove(target, row.username, statements))
      yield* forget(row, "lease.ended", { reason })
      yield* Metric.increment(leaseEnds("removed"))
    })

  const fail = (row: PlacedLeaseRow, problem: string) =>
    Effect.gen(function* () {
      const failures = row.failures + 1
      if (failures >= mostFailures(row)) {
        const { database, host, port } = yield* connectionOf(row)
        yield* forget(row, "lease.left", { failures, problem, database: `${host}:${port}/${database}` })
        return yield* Metric.increment(leaseEnds("left"))
      }
      const dueAt = (yield* clock) + removalBackoff(failures)
      yield* fenced(
        Effect.zipRight(
          Effect.flatMap(repo.fail({ id: row.id, failures: row.failures, problem, dueAt }), orSuperseded),
          recordedFailures.has(failures) ? record(row, "lease.failed", { failures, problem }) : Effect.void
        ),
        inOrganization(row)
      )
      yield* Metric.increment(leaseEnds("failed"))
    })

  const act = (row: PlacedLeaseRow, millis: number) =>
    Effect.gen(function* () {
      if (row.state === "live" && row.expires_at > millis) {
        return yield* fenced(Effect.zipRight(repo.forget({ id: row.id }), sealed.forget(row.id)), inOrganization(row))
      }
      const reason = row.ended ?? (row.state === "making" ? "its making was cut off" : "it has expired")
      if (row.state !== "ending") {
        yield* fenced(Effect.flatMap(repo.end({ id: row.id, reason }), orSuperseded), inOrganization(row))
      }
      return yield* Effect.catchTags(remove(row, reason), {
        ConnectionFailed: ({ message }) => fail(row, message),
        DecryptionFailed: ({ message }) => fail(row, message)
      })
    })

  /** Does what is due of a lease. */
  const end = (id: LeaseId): Effect.Effect<void> =>
    Effect.flatMap(repo.findDue({ id }), (row) =>
      row === undefined
        ? Effect.void
        : Effect.flatMap(clock, (millis) => Effect.catchTag(act(row, millis), "Superseded", () => Effect.void))
    )

  return { end, endLost } as const
})
