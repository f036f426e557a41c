import type { TargetId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import type { Place } from "../../access/Access.js"
import { makeOwnerNotices } from "../../access/gate/OwnerNotices.js"
import { systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Fence } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import type { PlatformFailed } from "./PlatformFailed.js"
import { makePushers, Superseded } from "./Pushers.js"
import { pushesByItself } from "./PushMetrics.js"
import { makePushSteps, type NotBegun } from "./PushSteps.js"
import { type PlacedRow, targetsRepo } from "./Repo.js"
import { makeSending } from "./Sending.js"

const minute = 60_000
/** How long the job waits while a push that a person asked for goes on. */
const busyMillis = 5_000
const mailEveryMillis = 24 * 60 * minute
/** How many tries in a row fail before the owners are mailed: a short failure of a platform is no reason. */
const failuresToMail = 2

/** How long a target waits that has failed so often: 1 minute to 6 hours. */
export const backoffMillis = (failures: number): number =>
  Math.min(minute * 2 ** Math.max(failures - 1, 0), 360 * minute)

const nameOf = ({ env, name, org, project }: PlacedRow) => `${org}/${project}/${env} ${name}`

const mailOf = (row: PlacedRow, problem: string, isStopped: boolean) => ({
  subject: isStopped ? "Coffer has stopped pushing secrets to a target" : "Coffer cannot push secrets to a target",
  text: `Secrets are not pushed to the target ${nameOf(row)} (${row.kind}): ${problem}.

${isStopped ? "Nothing is pushed there until somebody resumes it:" : "The server tries again, at most every 6 hours. Look at it with:"}

  coffer target ${isStopped ? "resume" : "show"} ${row.name} --org ${row.org} --project ${row.project} --env ${row.env}

This mail goes to the organization's owners, at most once a day for a target.
`
})

/**
 * Pushes by the server itself. Each reads the rights of the person, and the environment, again in the transaction that begins it. All
 * its transactions are fenced by the job's lease, and each step by the number of the push: the newest one goes on.
 */
export const makeAutomaticPushes = Effect.gen(function* () {
  const entered = yield* makePushers
  const audit = yield* AuditLog
  const repo = yield* targetsRepo
  const fenced = yield* Fence
  const { begin, prepare } = yield* makePushSteps
  const send = yield* makeSending(fenced)
  const mailOwners = yield* makeOwnerNotices

  /** The target with the proof that its person may push there, unless it is stopped. */
  const enter = (id: TargetId) =>
    Effect.filterOrFail(
      entered(id),
      ({ row }) => row.automatic !== "off" && row.paused === null,
      () => new Superseded()
    )

  const sourceOfRow = ({ env, name, org_id, project }: PlacedRow) => ({
    ...systemSource(`target ${name}`, org_id),
    project,
    env
  })

  /** Notes a failure, with its entry and, at most once a day, a mail. */
  const fail = (row: PlacedRow, problem: string, waitMillis: number | null) => {
    const isStopped = waitMillis === null
    return Effect.zipRight(
      fenced(
        Effect.gen(function* () {
          yield* isStopped
            ? repo.stop({ id: row.id, reason: problem })
            : repo.failed({ id: row.id, problem, millis: waitMillis })
          yield* audit.change(sourceOfRow(row), {
            action: "push.failed",
            resource_type: "target",
            resource_id: row.id,
            metadata: {
              ...{ name: row.name, kind: row.kind, problem, failures: row.failures + 1 },
              ...(isStopped && { stopped: true })
            }
          })
          if (!isStopped && row.failures + 1 < failuresToMail) return
          if ((yield* repo.noteMail({ id: row.id, millis: mailEveryMillis })).length === 0) return
          yield* mailOwners(row.org_id, mailOf(row, problem, isStopped))
        }),
        [orgScope(row.org_id)]
      ),
      Metric.increment(pushesByItself("failed"))
    )
  }

  const failLater = (row: PlacedRow, problem: string, retryAfterSeconds = 0) =>
    Effect.flatMap(Random.nextRange(0.8, 1.2), (jitter) =>
      fail(
        row,
        problem.slice(0, 500),
        Math.round(Math.max(backoffMillis(row.failures + 1) * jitter, retryAfterSeconds * 1000))
      )
    )

  const onNotBegun = (row: PlacedRow, { message, why }: NotBegun) =>
    why === "credential"
      ? failLater(row, message)
      : why === "busy"
        ? fenced(repo.postpone({ id: row.id, millis: busyMillis }), [orgScope(row.org_id)])
        : Effect.void

  const pushed = (row: PlacedRow, place: Place<"target.push">) =>
    Effect.gen(function* () {
      const { passed, prepared } = yield* prepare(place, row.name, false)
      const begun = yield* fenced(
        Effect.gen(function* () {
          const again = yield* enter(row.id)
          return yield* begin(again.place, prepared, passed, { as: again.email })
        }),
        [orgScope(row.org_id)]
      )
      const stillMay = Effect.match(fenced(enter(row.id)), { onFailure: () => false, onSuccess: () => true })
      yield* send(place, prepared, { ...begun, stillMay })
      yield* Metric.increment(pushesByItself("done"))
    }).pipe(Effect.scoped)

  /** Pushes to a target that is due. */
  return (id: TargetId): Effect.Effect<void> =>
    Effect.gen(function* () {
      const row = yield* repo.placed({ id })
      if (row === undefined) return
      yield* Effect.flatMap(enter(id), ({ place }) => pushed(row, place)).pipe(
        Effect.catchTags({
          Superseded: () => Effect.void,
          NotFound: () => Effect.void,
          RightLost: ({ message }) => fail(row, message, null),
          NotBegun: (error: NotBegun) => onNotBegun(row, error),
          PlatformFailed: ({ reason, retryAfterSeconds }: PlatformFailed) =>
            Effect.matchEffect(enter(id), {
              onFailure: (error) => (error._tag === "RightLost" ? fail(row, error.message, null) : Effect.void),
              onSuccess: () => failLater(row, reason, retryAfterSeconds)
            })
        }),
        Effect.catchAll(({ message }) => failLater(row, message))
      )
    })
})
