import { maxRevisionChanges } from "@coffer/domain/api/EnvironmentsApi"
import type { EnvId } from "@coffer/domain/base/Ids"
import type { EnvName } from "@coffer/domain/base/Names"
import { paginationOf } from "@coffer/domain/base/Pagination"
import { historyCursorOf, historyPositionOf, type ProjectRevision } from "@coffer/domain/secrets/ProjectRevision"
import * as Effect from "effect/Effect"
import { Access, type Place } from "../../access/Access.js"
import { withinKeys } from "../../access/AllowedKeys.js"
import { forEachInSlices, pacing } from "../../base/EventLoop.js"
import { traced } from "../../base/tracing/Traced.js"
import { Database } from "../../database/Database.js"
import { environmentsRepo } from "../../directory/environments/Repo.js"
import { type HeadRow, projectHistoryRepo } from "./Repo.js"

const defaultLimit = 100
/** How many revisions of an environment one statement reads. */
const headsAtOnce = 10

interface Request {
  readonly limit?: number
  readonly after?: string
}

/** An environment while its revisions are merged with those of others. */
interface Lane {
  readonly id: EnvId
  readonly name: EnvName
  readonly place: Place<"secret.list">
  /** Revisions that were read and not taken, newest first. */
  heads: ReadonlyArray<HeadRow>
  /** The revision that the next one is below. */
  before: number
  isAtEnd: boolean
}

/** The lane with the newest revision. Of the same time, the environment that comes first by name. */
const newestOf = (lanes: ReadonlyArray<Lane>): Lane | undefined =>
  lanes.reduce<Lane | undefined>((best, lane) => {
    const [head] = lane.heads
    const bestHead = best?.heads[0]
    return head !== undefined && (bestHead === undefined || head.created_at > bestHead.created_at) ? lane : best
  }, undefined)

/** Merges the revisions of the environments of a project. Returns no values. */
export class ProjectHistory extends Effect.Service<ProjectHistory>()("@coffer/server/ProjectHistory", {
  effect: Effect.gen(function* () {
    const repo = yield* projectHistoryRepo
    const environments = yield* environmentsRepo
    const { alongside } = yield* Access
    const { snapshot } = yield* Database

    /** The environments of which the caller may list keys. A cursor names those that may have more. */
    const lanesOf = Effect.fnUntraced(function* (place: Place<"env.list">, after: string | undefined) {
      const position = historyPositionOf(after)
      const lanes: Array<Lane> = []
      const pace = pacing()
      for (const { id, name } of yield* environments.revisions({ projectId: place.project.id })) {
        const before = position === undefined ? Number.MAX_SAFE_INTEGER : position.get(name)
        const there = before === undefined ? null : alongside(place, { id, name }, "secret.list", "some")
        if (before !== undefined && there !== null) {
          lanes.push({ id, name, place: there, heads: [], before, isAtEnd: false })
        }
        // A caller may have many rules, and a project many environments.
        yield* pace
      }
      return lanes
    })

    const refill = Effect.fnUntraced(function* (lane: Lane) {
      if (lane.isAtEnd || lane.heads.length > 0) return
      lane.heads = yield* repo.heads({ envId: lane.id, before: lane.before, limit: headsAtOnce })
      lane.isAtEnd = lane.heads.length < headsAtOnce
    })

    /** A page of the revisions of all environments that the caller may list, newest first. */
    const list = traced("ProjectHistory.list")(
      Effect.fnUntraced(function* (place: Place<"env.list">, { after, limit = defaultLimit }: Request) {
        const lanes = yield* lanesOf(place, after)
        const data: Array<ProjectRevision> = []
        const pace = pacing()
        let left = maxRevisionChanges
        yield* forEachInSlices(lanes, refill)
        for (let lane = newestOf(lanes); lane !== undefined && data.length < limit; lane = newestOf(lanes)) {
          const [head, ...rest] = lane.heads
          if (head === undefined) break
          const keys = yield* repo.keys({ envId: lane.id, revision: head.revision })
          if (data.length > 0 && keys.length > left) break
          left -= keys.length
          const { note, ...revision } = head
          const shown = withinKeys(lane.place, keys)
          data.push({
            env: lane.name,
            ...revision,
            ...(note !== null && (shown.length > 0 || keys.length === 0) && { note }),
            keys: shown
          })
          lane.heads = rest
          lane.before = head.revision
          yield* refill(lane)
          yield* pace
        }
        // Environments that are not named are at their end.
        const next = new Map(
          lanes.flatMap(({ heads: [head], name }) => (head ? [[name, head.revision + 1] as const] : []))
        )
        return { data, pagination: paginationOf(limit, next.size === 0 ? null : historyCursorOf(next)) }
      }, snapshot)
    )

    return { list } as const
  })
}) {}
