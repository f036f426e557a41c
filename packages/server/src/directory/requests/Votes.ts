import { actorName, currentActor, type CurrentCaller } from "@coffer/domain/access/Actor"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { defined } from "@coffer/domain/base/Defined"
import { isApiError, Conflict } from "@coffer/domain/errors/Errors"
import type { RequestId, RuleId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import { Access, denied, type Place, sourceOf } from "../../access/Access.js"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { isApprover } from "../../access/gate/Voting.js"
import { requirePasskey } from "../../access/caller/RecentLogin.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { timestamp } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { Database, type Transaction } from "../../database/Database.js"
import { type Scope, userScope } from "../../database/Scopes.js"
import { makeGrantedAccess } from "./GrantedAccess.js"
import { type CallRequest, decodeCall } from "./CallCodec.js"
import { makeNamedIds } from "./NamedIds.js"
import { isAboutRemoved } from "./ReplayableCalls.js"
import { makeCurrentRequester } from "./CurrentRequester.js"
import { Requests } from "./Requests.js"
import { type RequestRow, requestsRepo } from "./Repo.js"
import { type EndFacts, makeRequestEnds, type RequestEnd, requestEvent } from "./RequestEnds.js"
import { differences, isOwn, rulesOf, affectedIn, voteRefusal } from "./RequestViews.js"

interface RequestPath extends OrgPath {
  readonly request_id: RequestId
}

/** The outcome of a request: the differences since it was asked for, or the effect of a vote. */
type Outcome =
  | { readonly outdated: ReadonlyArray<string> }
  | {
      readonly outdated: null
      /** Null if votes are missing. */
      readonly approvedBy: ReadonlyArray<string> | null
      readonly revision: number | null
      readonly ruleId?: RuleId | undefined
      readonly finish: Effect.Effect<unknown>
    }

/** The calls that may take the name of a protected place, which may have been removed. */
const takesName: ReadonlySet<string> = new Set([
  "organizations.create",
  "organizations.update",
  "projects.create",
  "projects.rename",
  "environments.create"
])

const unreadable = new Conflict({ message: "an earlier version of the server stored this request: ask for it again" })

/** Votes of people on requests. The last one that is needed makes the change, in its transaction. */
export class Votes extends Effect.Service<Votes>()("@coffer/server/Votes", {
  effect: Effect.gen(function* () {
    const repo = yield* requestsRepo
    const requests = yield* Requests
    const access = yield* Access
    const audit = yield* AuditLog
    const endRequest = yield* makeRequestEnds
    const currentRequester = yield* makeCurrentRequester
    const rules = yield* makeGrantedAccess
    const namedIds = yield* makeNamedIds
    const { clock } = yield* Database

    const place = (path: RequestPath) => access.org(path, "request.list")

    const sourceAt = (place: Place<"request.list">, { env, project }: RequestRow) => ({
      ...sourceOf(place),
      project,
      env
    })

    const end = Effect.fnUntraced(function* (
      place: Place<"request.list">,
      row: RequestRow,
      event: RequestEnd,
      facts?: EndFacts
    ) {
      const isEnded = yield* endRequest(row, sourceOf(place), event, facts)
      if (!isEnded) return yield* new Conflict({ message: `request ${row.id} has just ended` })
    })

    /** Finds a request that the caller may decide on. Fails with Conflict if it has ended. */
    const pending = Effect.fnUntraced(function* (place: Place<"request.list">, id: RequestId) {
      const row = yield* requests.find(place, id)
      return row.state === "pending"
        ? row
        : yield* new Conflict({ message: `request ${id} is ${row.state}: nobody can decide on it any more` })
    })

    const votable = Effect.fnUntraced(function* (place: Place<"request.list">, id: RequestId) {
      const row = yield* pending(place, id)
      const refusal = voteRefusal(place.actor, place.role, row)
      if (refusal !== null) return yield* denied(audit, place, refusal)
      if (rulesOf(row).passkey) yield* requirePasskey(place.actor)
      return row
    })

    const castVote = Effect.fnUntraced(function* (
      { actor }: Place<"request.list">,
      { id }: RequestRow,
      vote: "approve" | "refuse",
      comment: string | undefined
    ) {
      const cast = yield* repo.vote({
        id,
        userId: actor.id,
        email: actorName(actor),
        vote,
        comment: comment ?? null,
        now: timestamp(yield* clock)
      })
      if (cast.length === 0) return yield* new Conflict({ message: `you have voted on request ${id} already` })
    })

    /** The valid votes for a request: of people who may still vote. */
    const approvalsOf = Effect.fnUntraced(function* (row: RequestRow) {
      const { approvers, self } = rulesOf(row)
      const votes = yield* repo.approvals({ id: row.id, orgId: row.org_id })
      return votes
        .filter(({ email, id, role }) => isApprover(approvers, role, email) && (self || id !== row.actor_id))
        .map(({ email }) => email)
    })

    /** Makes or rehearses the change. Fails with what has changed since it was asked for. */
    const makeChange = Effect.fnUntraced(function* (
      row: RequestRow,
      request: CallRequest,
      by: ReadonlyArray<string> | null
    ) {
      const call = yield* requests.callOf(row.call ?? "")
      const approved = { envId: row.env_id, approval: by && { id: row.id, by } }
      const requester = yield* currentRequester(row)
      const { made, record } = yield* requests.attempt(call.run(request), requester, approved, (record) => {
        const found = record.entered
          ? differences(affectedIn(row.keys), record.affected)
          : [`${row.project}/${row.env} was renamed after the request was made`]
        return found.length === 0 ? Effect.void : new Conflict({ message: found.join("\n") })
      })
      // A rehearsal has made nothing.
      return { finish: by === null ? Effect.void : call.finish(made), revision: record.revision }
    })

    const changesSince = (error: unknown): ReadonlyArray<string> =>
      isApiError(error) ? error.message.split("\n") : ["it cannot be made any more"]

    /**
     * Makes what was asked for if the votes are enough. Returns what has changed since then, or how to go on. A request for access
     * has no call.
     */
    const decideNow = Effect.fnUntraced(function* (
      place: Place<"request.list">,
      row: RequestRow,
      request: CallRequest | null,
      json: unknown
    ) {
      if (row.is_live === 0 && !(row.call !== null && takesName.has(row.call)) && !isAboutRemoved(row.call)) {
        const gone: Outcome = { outdated: [`environment ${row.project}/${row.env} was removed`] }
        return gone
      }
      if (rulesOf(row).version !== row.protection_version) {
        const outdated: Outcome = { outdated: ["the protection of the environment has changed"] }
        return outdated
      }
      const by = yield* approvalsOf(row)
      const approvedBy = by.length >= row.needed ? by : null
      if (request !== null) {
        const renamed = yield* namedIds.changes(row.org_id, json, row.named)
        if (renamed.length > 0) {
          const outdated: Outcome = { outdated: renamed }
          return outdated
        }
        const { finish, revision } = yield* makeChange(row, request, approvedBy)
        const made: Outcome = { outdated: null, approvedBy, revision, finish }
        return made
      }
      const approved = approvedBy && { by: approvedBy, source: sourceAt(place, row) }
      const ruleId = yield* rules.make(row, place.org.name, yield* currentRequester(row), approved)
      const made: Outcome = { outdated: null, approvedBy, revision: null, ruleId, finish: Effect.void }
      return made
    })

    /** Holds the person too: whoever disables one removes the votes. */
    const changeAs = <A, E>(
      path: RequestPath,
      step: (place: Place<"request.list">) => Effect.Effect<A, E, CurrentCaller | Transaction>
    ) =>
      Effect.flatMap(currentActor, (actor) => {
        const also: ReadonlyArray<Scope> = actor.type === "user" ? [userScope(actor.id)] : []
        return access.change(place(path), step, { also })
      })

    const approve = method("Votes.approve", function* (path: RequestPath, comment?: string) {
      const before = yield* Effect.flatMap(place(path), (place) => votable(place, path.request_id))
      // Decrypted before the transaction, for which others wait. It never changes.
      const json =
        before.kind === "access"
          ? null
          : yield* Effect.catchTag(requests.bodyOf(before), "DecryptionFailed", Effect.die)
      const request = before.call === null ? null : yield* decodeCall(before.call, json)
      if (before.kind === "change" && request === null) return yield* unreadable
      const decided = yield* changeAs(path, (place) =>
        Effect.gen(function* () {
          const row = yield* votable(place, path.request_id)
          yield* castVote(place, row, "approve", comment)
          yield* audit.change(sourceAt(place, row), requestEvent(row, "approve", defined({ comment })))
          const outcome = yield* Effect.catchAll(decideNow(place, row, request, json), (error) =>
            Effect.succeed<Outcome>({ outdated: changesSince(error) })
          )
          if (outcome.outdated !== null) {
            yield* end(place, row, "outdate", { outdated: outcome.outdated })
            return outcome.outdated
          }
          const { approvedBy, finish, revision, ruleId } = outcome
          if (approvedBy !== null) yield* end(place, row, "apply", { approvedBy, revision, ...defined({ ruleId }) })
          const { request: shown } = yield* requests.shown(place, row.id)
          return { shown, finish }
        })
      )
      if (!("shown" in decided)) {
        return yield* new Conflict({
          message: `request ${path.request_id} is outdated, and nothing was changed: ${decided.join("; ")}`
        })
      }
      yield* decided.finish
      return decided.shown
    })

    const refuse = traced("Votes.refuse")((path: RequestPath, comment?: string) =>
      changeAs(path, (place) =>
        Effect.gen(function* () {
          const row = yield* votable(place, path.request_id)
          yield* castVote(place, row, "refuse", comment)
          yield* end(place, row, "refuse", defined({ comment }))
          return (yield* requests.shown(place, row.id)).request
        })
      )
    )

    const withdraw = traced("Votes.withdraw")((path: RequestPath) =>
      access.change(place(path), (place) =>
        Effect.gen(function* () {
          const row = yield* pending(place, path.request_id)
          if (!isOwn(place.actor, row)) return yield* denied(audit, place, "only whoever asked withdraws a request")
          yield* end(place, row, "withdraw")
          return (yield* requests.shown(place, row.id)).request
        })
      )
    )

    return { approve, refuse, withdraw } as const
  }),
  dependencies: [Requests.Default, Authenticator.Default]
}) {}
