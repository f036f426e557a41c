import { RequestId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { approvalPage } from "@coffer/domain/requests/ApprovalMessage"
import { type ApprovalRequest, ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { Call } from "./Connection.js"
import { ChangeWaits, type Failure } from "./Failures.js"
import type { RunContext } from "./RunContext.js"
import type { Visits } from "./ToolResult.js"

/** Shorter than the time after which hosts give up a call by default, a minute. */
export const watch = Schedule.intersect(Schedule.spaced("2 seconds"), Schedule.recurs(20))

const isId = Schema.is(RequestId)

const isRequested = (error: unknown): error is ChangeRequested => Predicate.isTagged(error, "ChangeRequested")

/**
 * Makes a change. If it needs votes, sends the person to the page of its request, and watches the request for a while. What an
 * earlier round asked for is not asked for again: it may have been approved since, and would be made twice.
 */
export const afterVotes = <A>(
  change: Effect.Effect<A, Exclude<Failure, ChangeWaits> | ChangeRequested>,
  call: Call,
  org: OrgName | undefined,
  { server, visits, waitsFor }: RunContext
): Effect.Effect<A, Failure> => {
  // A change of no organization needs no votes.
  if (org === undefined) return Effect.catchIf(change, isRequested, Effect.die)

  const requestOf = (id: RequestId) => call("requests", (api) => api.get({ path: { org_name: org, request_id: id } }))

  const waiting = (request: ApprovalRequest) =>
    new ChangeWaits({ request, page: approvalPage(server.base, org, request.id) })

  const watched = (asked: ApprovalRequest, { complete, propose }: Visits) =>
    Effect.gen(function* () {
      const { env, id, project } = asked
      const message = `See request ${id}, by which people approve the change of ${org}/${project}/${env}?`
      const visit = { kind: "votes", id, message, url: approvalPage(server.base, org, id) } as const
      const reply = yield* Effect.tryPromise((signal) => propose(visit, signal))
      if (reply !== "accepted") return asked
      const latest = yield* requestOf(id).pipe(
        Effect.filterOrFail(({ state }) => state !== "pending", waiting),
        Effect.retry({ schedule: watch, while: Predicate.isTagged("ChangeWaits") })
      )
      yield* Effect.ignore(Effect.tryPromise(() => complete(id)))
      return latest
    }).pipe(Effect.orElseSucceed(() => asked))

  const first = isId(waitsFor)
    ? Effect.flatMap(requestOf(waitsFor), (request) => new ChangeRequested({ request }))
    : change
  return Effect.catchIf(first, isRequested, ({ request }) =>
    visits === undefined || request.state !== "pending"
      ? waiting(request)
      : Effect.flatMap(watched(request, visits), waiting)
  )
}
