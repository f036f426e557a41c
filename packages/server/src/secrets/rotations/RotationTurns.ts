import type { RotationId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import { spanMillis } from "@coffer/domain/base/Span"
import type { RotationState } from "@coffer/domain/secrets/Rotation"
import { filled } from "@coffer/domain/secrets/RotationTemplate"
import { nextWithin } from "@coffer/domain/secrets/RotationWindow"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { Access, sourceOf } from "../../access/Access.js"
import { makeOwnerNotices } from "../../access/gate/OwnerNotices.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { timestamp } from "../../base/Time.js"
import { Database } from "../../database/Database.js"
import { Fence } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import { ConnectionFailed } from "../connections/Kind.js"
import { connectionsRepo } from "../connections/Repo.js"
import { DatabaseSlots } from "../connections/DatabaseSlots.js"
import { makePasswords } from "../connections/Passwords.js"
import { kinds, makeTargets } from "../connections/DatabaseAddresses.js"
import { turnDues } from "../dues/TurnDues.js"
import { Changes } from "../services/Changes.js"
import { drawnPasswords, drawPassword } from "./DrawnPasswords.js"
import { failureMail, failuresToMail, mailEveryMillis } from "./FailureMail.js"
import { type PlacedRow, rotationsRepo } from "./Repo.js"
import { turns } from "./RotationMetrics.js"
import { termsOf } from "./Rotations.js"

/** The step is not the one that was read any more: it was done, paused or removed meanwhile. */
class Superseded extends Data.TaggedError("Superseded") {}

export const mostFailures = 10
const minute = 60_000

/** How long a step waits that has failed so often: 1 minute to 6 hours. */
export const backoffMillis = (failures: number): number => Math.min(minute * 2 ** (failures - 1), 360 * minute)

/** The login of a new password, which has nothing to do with the connection's own. */
const ofRenewed = (error: ConnectionFailed): ConnectionFailed =>
  error.reason === "login refused" ? new ConnectionFailed({ reason: "renewed login refused" }) : error

const messageOf = (error: { readonly message: string }): string => error.message.slice(0, 500)

/**
 * The steps of a turn. Each begins with the row as it is, does one thing on one side, and ends with a transaction that compares the
 * row with what was read, under the fence of the job. A kill between the two repeats the step:
 *
 * | state   | the step does                                  | killed before the state is stored, and repeated            |
 * | ------- | ---------------------------------------------- | ---------------------------------------------------------- |
 * | idle    | draws a password and seals it                  | nothing was stored: another one is drawn                   |
 * | drawn   | sets the password of the user in the database  | the same password is set again                             |
 * | changed | logs in with it                                | it logs in again                                           |
 * | proved  | writes the secrets, in the transaction itself  | both are stored, or neither is                             |
 * | written | forgets the sealed password, plans the next    | both are stored, or neither is                             |
 *
 * With two users, the stored secrets name the other one until they are written: they log in at every moment.
 */
export const makeTurns = Effect.gen(function* () {
  const repo = yield* rotationsRepo
  const connections = yield* connectionsRepo
  const passwords = yield* drawnPasswords
  const connectionPassword = yield* makePasswords
  const { targetOf } = yield* makeTargets
  const { inSlot } = yield* DatabaseSlots
  const changes = yield* Changes
  const access = yield* Access
  const audit = yield* AuditLog
  const fenced = yield* Fence
  const { clock } = yield* Database
  const mailOwners = yield* makeOwnerNotices
  const noteTurn = yield* turnDues

  const inOrganization = ({ org_id }: PlacedRow) => [orgScope(org_id)]

  /** The change of one row, or Superseded. */
  const orSuperseded = <E, R>(rows: Effect.Effect<ReadonlyArray<unknown> | object | undefined, E, R>) =>
    Effect.flatMap(rows, (found) =>
      found === undefined || (Array.isArray(found) && found.length === 0) ? new Superseded() : Effect.void
    )

  const stepOf = ({ draw, id, state }: PlacedRow) => ({ id, draw, state })

  const advance = (row: PlacedRow, next: RotationState) =>
    fenced(orSuperseded(repo.advance({ ...stepOf(row), next })), inOrganization(row))

  const userOf = (row: PlacedRow) => Effect.map(termsOf(row), ({ users }) => users[row.turn % users.length] ?? "")

  /** Notes in the due dates of its secrets when a rotation turns next. */
  const noteNext = (row: PlacedRow, millis: number | null) =>
    Effect.flatMap(termsOf(row), ({ writes }) => noteTurn({ ...row, keys: Object.keys(writes) }, millis))

  const draw = (row: PlacedRow) =>
    Effect.gen(function* () {
      const { window } = yield* termsOf(row)
      const now = yield* clock
      const opens = row.due_at === 0 ? now : nextWithin(window, now)
      const password = drawPassword(row.alphabet, row.length)
      yield* fenced(
        opens > now
          ? Effect.zipRight(orSuperseded(repo.postpone({ ...stepOf(row), dueAt: opens })), noteNext(row, opens))
          : Effect.zipRight(
              orSuperseded(repo.draw(stepOf(row))),
              passwords.keep({ id: row.id, draw: row.draw + 1 }, password)
            ),
        inOrganization(row)
      )
      return opens <= now
    })

  const targetFor = (row: PlacedRow) =>
    Effect.gen(function* () {
      const connection = yield* connections.byId({ id: row.connection_id })
      if (connection === undefined) return yield* new Superseded()
      const place = access.renewing(row)
      const { password } = yield* connectionPassword(place, connection)
      const target = yield* targetOf(connection, { user: connection.login, password })
      return { kind: kinds[connection.kind], target, inTurn: inSlot(connection) }
    })

  const change = (row: PlacedRow) =>
    Effect.gen(function* () {
      const login = { user: yield* userOf(row), password: yield* passwords.read(row) }
      const { inTurn, kind, target } = yield* targetFor(row)
      // The database makes the password durable only after this server has shown that the step is still its own.
      yield* inTurn(kind.change(target, login, fenced(orSuperseded(repo.isCurrent(stepOf(row))), [])))
      yield* advance(row, "changed")
    })

  const prove = (row: PlacedRow) =>
    Effect.gen(function* () {
      const login = { user: yield* userOf(row), password: yield* passwords.read(row) }
      const { inTurn, kind, target } = yield* targetFor(row)
      yield* inTurn(Effect.mapError(kind.check(target, login), ofRenewed))
      yield* advance(row, "proved")
    })

  const write = (row: PlacedRow) =>
    Effect.gen(function* () {
      const user = yield* userOf(row)
      const password = yield* passwords.read(row)
      const { writes } = yield* termsOf(row)
      const wanted = new Map(
        Object.entries(writes).map(([key, template]) => {
          const text = filled(template, user, Redacted.value(password))
          return [SecretKey.make(key), { kind: "text", value: Redacted.make(SecretValue.make(text)) } as const] as const
        })
      )
      const place = access.renewing(row)
      yield* fenced(
        Effect.gen(function* () {
          yield* orSuperseded(repo.advance({ ...stepOf(row), next: "written" }))
          const claimed = yield* changes.claim(place)
          const steps = yield* changes.plan(claimed, wanted, { dryRun: false })
          yield* changes.apply(claimed, steps, {
            values: "given",
            recorded: () => ({ action: "secret.rotated", rotation: row.name, user })
          })
        }),
        inOrganization(row)
      )
    })

  const finish = (row: PlacedRow) =>
    Effect.gen(function* () {
      const { users } = yield* termsOf(row)
      const millis = yield* clock
      const dueAt = millis + spanMillis(row.every)
      const turn = (row.turn + 1) % users.length
      yield* fenced(
        Effect.all(
          [
            orSuperseded(repo.finish({ ...stepOf(row), turn, dueAt, now: timestamp(millis) })),
            passwords.forget(row),
            noteNext(row, dueAt)
          ],
          { discard: true }
        ),
        inOrganization(row)
      )
      yield* Metric.increment(turns("done"))
    })

  /** Mails the owners, at most once a day: a short failure is no reason. */
  const mail = (row: PlacedRow, problem: string, pause: string | null) =>
    Effect.gen(function* () {
      if (pause === null && row.failures + 1 < failuresToMail) return
      if ((yield* repo.noteMail({ id: row.id, millis: mailEveryMillis })).length === 0) return
      yield* mailOwners(row.org_id, failureMail(row, problem, pause !== null))
    })

  /** Notes a failure, with its entry. After the last one, the rotation is paused. */
  const fail = (row: PlacedRow, problem: string) =>
    Effect.gen(function* () {
      const failures = row.failures + 1
      const dueAt = (yield* clock) + backoffMillis(failures)
      const pause = failures >= mostFailures ? `${failures} tries in a row failed: ${problem}` : null
      yield* fenced(
        Effect.zipRight(
          Effect.zipRight(
            orSuperseded(repo.fail({ ...stepOf(row), problem, dueAt, pause })),
            Effect.zipRight(pause === null ? Effect.void : noteNext(row, null), mail(row, problem, pause))
          ),
          audit.change(sourceOf(access.renewing(row)), {
            action: "rotation.failed",
            resource_type: "rotation",
            resource_id: row.id,
            metadata: { name: row.name, state: row.state, failures, problem, ...(pause !== null && { paused: true }) }
          })
        ),
        inOrganization(row)
      )
      yield* Metric.increment(turns("failed"))
    })

  const taken = (row: PlacedRow): Effect.Effect<boolean, Error> => {
    switch (row.state) {
      case "idle":
        return draw(row)
      case "drawn":
        return Effect.as(change(row), true)
      case "changed":
        return Effect.as(prove(row), true)
      case "proved":
        return Effect.as(write(row), true)
      default:
        return Effect.as(finish(row), false)
    }
  }

  /** Does the next step of a rotation. Returns whether another one may follow at once. */
  const step = (id: RotationId): Effect.Effect<boolean> =>
    Effect.flatMap(repo.findDue({ id }), (row) =>
      row === undefined
        ? Effect.succeed(false)
        : taken(row).pipe(
            Effect.catchAll((error) =>
              error instanceof Superseded ? Effect.succeed(false) : Effect.as(fail(row, messageOf(error)), false)
            ),
            Effect.catchAll(() => Effect.succeed(false))
          )
    )

  /** Does the steps of a turn, as far as they go. */
  const turn = (id: RotationId): Effect.Effect<void> =>
    Effect.asVoid(Effect.repeat(step(id), { while: (goesOn) => goesOn }))

  return { step, turn } as const
})
