import { type Actor, actorName, type CurrentCaller, delegationOf } from "@coffer/domain/access/Actor"
import type { ApprovalRequest, RequestKind, RequestPage, RequestState } from "@coffer/domain/requests/ApprovalRequest"
import {
  ApprovalRequired,
  Conflict,
  type Forbidden,
  LimitExceeded,
  type NotFound,
  type Unauthorized
} from "@coffer/domain/errors/Errors"
import { type EnvId, RequestId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { spanSeconds } from "@coffer/domain/base/Span"
import * as Effect from "effect/Effect"
import { Access, type OrgPlace, type Place, sourceOf } from "../../access/Access.js"
import { notFound, notVisible } from "../../access/place/NotFound.js"
import type { ChangeRecord } from "../../access/gate/GateDecision.js"
import type { VotesMissing } from "../../access/gate/VotesMissing.js"
import { makeProtections } from "../../access/gate/Protections.js"
import { Requester } from "../../access/caller/Requester.js"
import { mayAlso } from "../../access/Rights.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { pacing } from "../../base/EventLoop.js"
import { timestamp } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { afterCommit, Database } from "../../database/Database.js"
import { makeSealedCalls } from "./SealedCalls.js"
import { detailsOf } from "./CallSummary.js"
import { type CallRequest, encodeCall } from "./CallCodec.js"
import { ApprovalMails } from "../../access/gate/ApprovalMails.js"
import { makeNamedIds } from "./NamedIds.js"
import { makeLacksVoters } from "./LacksVoters.js"
import { makeReplayableCalls } from "./ReplayableCalls.js"
import { makeRequestMails } from "./RequestMails.js"
import { makeRepeated } from "./Repeated.js"
import { type RequestRow, requestsRepo, type Target } from "./Repo.js"
import { factsOf, isOwn, requestOf, rulesOf, unprotected, voteRefusal } from "./RequestViews.js"

const maxOwn = 20
const maxPending = 200
/** The most bytes that the pending changes of an environment may take in the database. */
const maxBytes = 64 * 1024 * 1024

const defaultLimit = 20
const rowsAtOnce = 100
/** How long a request for access to an environment without a protection waits. */
const defaultSpan = "72h"

/** A change that was asked for, and the name of its organization. */
interface Asked {
  readonly org: OrgName
  readonly request: ApprovalRequest
}

type AskRefused = ApprovalRequired | Forbidden | LimitExceeded | NotFound | Unauthorized

export interface RequestFilter {
  readonly state?: RequestState
  readonly kind?: RequestKind
  readonly limit?: number
  readonly after?: RequestId
}

type NewRequest =
  | { readonly kind: "access"; readonly permission: string; readonly expiresIn: number }
  | { readonly kind: "change"; readonly call: string; readonly change: ChangeRecord; readonly json: unknown }

/** The requests for access to environments and for changes of protected ones. */
export class Requests extends Effect.Service<Requests>()("@coffer/server/Requests", {
  effect: Effect.gen(function* () {
    const repo = yield* requestsRepo
    const access = yield* Access
    const audit = yield* AuditLog
    const bodies = yield* makeSealedCalls
    const protections = yield* makeProtections
    const mails = yield* makeRequestMails
    const namedIds = yield* makeNamedIds
    const lacksVoters = yield* makeLacksVoters
    const repeated = yield* makeRepeated
    const { attempt, callOf, register } = yield* makeReplayableCalls
    const { clock } = yield* Database

    const checkRoom = Effect.fnUntraced(function* ({ env_id: envId }: Target, actor: Actor, more: number) {
      const { bytes, own, waiting } = yield* repo.pending({ envId, actorId: actor.id })
      if (own >= maxOwn) {
        return yield* new LimitExceeded({
          message: `at most ${maxOwn} requests of yours wait in an environment: withdraw one, or wait for the votes`
        })
      }
      if (waiting >= maxPending) {
        return yield* new LimitExceeded({ message: `at most ${maxPending} requests wait in an environment` })
      }
      if (bytes + more > maxBytes) {
        return yield* new LimitExceeded({
          message: `the requests that wait in an environment hold at most ${maxBytes / 1024 / 1024} MiB`
        })
      }
    })

    /** Stores a request in the transaction, and mails those who may vote after its commit. */
    const store = Effect.fnUntraced(function* (
      place: Place<"request.create">,
      target: Target,
      asked: NewRequest,
      reason: string | null
    ) {
      const { actor, org } = place
      const { env, env_id: envId, project, project_id: projectId } = target
      const id = RequestId.make(yield* uuidV7)
      const protection = yield* protections.find(envId)
      const { needed, version } = protection ?? unprotected
      const millis = yield* clock
      const sealed =
        asked.kind === "access" ? null : yield* bodies.seal({ id, orgId: org.id, projectId, envId }, asked.json)
      yield* checkRoom(target, actor, sealed?.bytes ?? 0)
      const affected = asked.kind === "access" ? null : asked.change.affected
      yield* repo.insert({
        id,
        orgId: org.id,
        envId,
        kind: asked.kind,
        actorType: actor.type,
        actorId: actor.id,
        actorName: actorName(actor),
        delegationId: delegationOf(actor)?.id ?? null,
        reason,
        call: asked.kind === "access" ? null : asked.call,
        keys: affected && JSON.stringify(affected),
        details: asked.kind === "access" ? null : JSON.stringify(detailsOf(asked.json, asked.change.affected, project)),
        named: asked.kind === "access" ? null : yield* namedIds.note(org.id, asked.json),
        permission: asked.kind === "access" ? asked.permission : null,
        expiresIn: asked.kind === "access" ? asked.expiresIn : null,
        protectionVersion: version,
        needed,
        bytes: sealed?.bytes ?? 0,
        now: timestamp(millis),
        expiresAt: millis + spanSeconds(protection?.expires_after ?? defaultSpan) * 1_000
      })
      if (sealed !== null) yield* sealed.store
      yield* audit.change(
        { ...sourceOf(place), project, env },
        {
          action: "request.create",
          resource_type: "request",
          resource_id: id,
          metadata: {
            ...(asked.kind === "access"
              ? { permission: asked.permission, expires_in: asked.expiresIn }
              : { call: asked.call, keys: affected?.map(({ key }) => ({ key })) }),
            ...(reason !== null && { reason })
          }
        }
      )
      const { request, row } = yield* shown(place, id)
      const { approvers, self } = rulesOf(row)
      const voters = Effect.map(protections.votersOf(org.id, approvers), (all) =>
        self ? all : all.filter((voter) => voter.id !== row.actor_id)
      )
      const asker = { type: row.actor_type, name: row.actor_name }
      yield* afterCommit(mails.waits("vote", { id, org, project, env, asker, what: factsOf(row), approvers: voters }))
      return request
    })

    const shown = Effect.fnUntraced(function* (place: OrgPlace<"request.create" | "request.list">, id: RequestId) {
      const row = yield* repo.find({ orgId: place.org.id, id })
      if (row === undefined) return yield* Effect.dieMessage("a request that was stored has no row")
      return { row, request: requestOf(place.actor, place.role, row) }
    })

    /** Makes a change that the gate refused, and undoes it: what would fail is refused at once, and what it alters is known. */
    const tried = <A, E>(
      change: Effect.Effect<A, E, CurrentCaller>,
      { actor, org }: Place<"request.create">,
      envId: EnvId
    ): Effect.Effect<ChangeRecord, E> =>
      Effect.map(attempt(change, new Requester(actor, org.id), { envId, approval: null }), ({ record }) => record)

    /** A request that nobody but its requester could vote on would wait until it ends. */
    const requireVoters = (place: Place<"request.create">, target: Target) =>
      Effect.flatMap(lacksVoters(place, target, "change"), (message) =>
        message === null ? Effect.void : new ApprovalRequired({ message })
      )

    const targetOf = Effect.fnUntraced(function* ({ org }: Place<"request.create">, envId: EnvId) {
      return (yield* repo.targetById({ orgId: org.id, envId })) ?? (yield* notVisible(`organization ${org.name}`))
    })

    /** Fails with what refuses a change besides the gate, or else as the gate did. */
    const rehearse = <A, E>(
      change: Effect.Effect<A, E, CurrentCaller>,
      refused: VotesMissing
    ): Effect.Effect<never, E | ApprovalRequired | Forbidden | NotFound | Unauthorized, CurrentCaller> =>
      access.change(
        // Whoever cannot ask there, such as for the name of a removed organization, is refused by the gate alone.
        Effect.mapError(access.org({ org_name: refused.at.org.name }, "request.create"), () => refused),
        (place) =>
          Effect.gen(function* () {
            yield* tried(change, place, refused.at.envId)
            yield* requireVoters(place, yield* targetOf(place, refused.at.envId))
            return yield* refused
          })
      )

    /** Asks for a change that the gate refused. */
    const ask = <A, E>(
      call: string,
      request: CallRequest,
      change: Effect.Effect<A, E, CurrentCaller>,
      { envId, org }: VotesMissing["at"],
      reason: string | null
    ): Effect.Effect<Asked, E | AskRefused, CurrentCaller> =>
      Effect.gen(function* () {
        const json = yield* encodeCall(call, request)
        return yield* access.change(access.org({ org_name: org.name }, "request.create"), (place) =>
          Effect.gen(function* () {
            const target = yield* targetOf(place, envId)
            const record = yield* tried(change, place, envId)
            yield* requireVoters(place, target)
            const same = yield* repeated(place, target, { call, affected: record.affected, json })
            if (same !== null) {
              const { request } = yield* shown(place, same)
              return { org: place.org.name, request: { ...request, was_waiting: true } }
            }
            const asked = yield* store(place, target, { kind: "change", call, change: record, json }, reason)
            return { org: place.org.name, request: asked }
          })
        )
      })

    /** Whether a request is in the lists of an actor. */
    const isVisible = (place: Place<"request.list">, row: RequestRow): boolean =>
      isOwn(place.actor, row) ||
      voteRefusal(place.actor, place.role, { ...row, self: 1 }) === null ||
      mayAlso(place, "approval.decide", { org: place.org.name, project: row.project, env: row.env })

    /** Finds a request that is in the lists of the caller. */
    const find = Effect.fnUntraced(function* (place: Place<"request.list">, id: RequestId) {
      const row = yield* repo.find({ orgId: place.org.id, id })
      return row !== undefined && isVisible(place, row) ? row : yield* notFound(`request ${id}`)
    })

    /** A page of requests, newest first: those that the caller may know of. */
    const list = method(
      "Requests.list",
      function* (place: Place<"request.list">, { after, kind, limit = defaultLimit, state }: RequestFilter) {
        const found: Array<ApprovalRequest> = []
        const pace = pacing()
        for (let before: RequestId | null = after ?? null; found.length <= limit;) {
          const rows: ReadonlyArray<RequestRow> = yield* repo.page({
            orgId: place.org.id,
            kind: kind ?? null,
            state: state ?? null,
            before,
            limit: rowsAtOnce
          })
          for (const row of rows) if (isVisible(place, row)) found.push(requestOf(place.actor, place.role, row))
          const last = rows.at(-1)
          if (last === undefined || rows.length < rowsAtOnce) break
          before = last.id
          yield* pace
        }
        const data = found.slice(0, limit)
        const has_next = found.length > limit
        const page: RequestPage = {
          data,
          pagination: { limit, has_next, next_cursor: has_next ? (data.at(-1)?.id ?? null) : null }
        }
        return page
      }
    )

    const get = (place: Place<"request.list">, id: RequestId) =>
      Effect.map(find(place, id), (row) => requestOf(place.actor, place.role, row))

    /** The call of a pending request as JSON. Fails with Conflict if it has ended: its values are gone. */
    const bodyOf = Effect.fnUntraced(function* (row: RequestRow) {
      const { env_id: envId, id, org_id: orgId, project_id: projectId } = row
      const json = row.state === "pending" ? yield* bodies.open({ id, orgId, projectId, envId }) : null
      return json ?? (yield* new Conflict({ message: `request ${id} is ${row.state}: its values are gone` }))
    })

    return {
      register,
      callOf,
      attempt,
      store,
      ask,
      rehearse,
      find,
      list,
      get,
      bodyOf,
      shown
    } as const
  }),
  dependencies: [ApprovalMails.Default]
}) {}
