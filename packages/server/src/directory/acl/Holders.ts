import {
  type AccessReview,
  holderCursorOf,
  holderKinds,
  type HolderPage,
  type HolderPosition,
  holderPositionOf
} from "@coffer/domain/access/AccessHolder"
import type { Permission } from "@coffer/domain/access/AclRule"
import { actorName } from "@coffer/domain/access/Actor"
import type { SecretKey } from "@coffer/domain/base/Names"
import { paginationOf } from "@coffer/domain/base/Pagination"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Place, sourceOf } from "../../access/Access.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { makeLastReview, makePlaceUses } from "../../audit/PlaceUses.js"
import { now } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { holdersRepo } from "./HoldersRepo.js"
import { makeHolderUsage } from "./HolderUsage.js"
import { makeHolderWalk } from "./HolderWalk.js"

const defaultLimit = 100

type HolderPlace = Place<"access.list" | "access.review">

interface Request {
  readonly permission?: Permission
  readonly key?: SecretKey
  readonly limit?: number
  readonly after?: string
}

/** Those who have a permission in an environment. */
export class Holders extends Effect.Service<Holders>()("@coffer/server/Holders", {
  effect: Effect.gen(function* () {
    const repo = yield* holdersRepo
    const walkAt = yield* makeHolderWalk
    const lastUses = yield* makePlaceUses
    const lastReview = yield* makeLastReview
    const usageOf = yield* makeHolderUsage
    const audit = yield* AuditLog

    /** A page of those who have a permission in an environment, with why, until when, and their last use of it. */
    const read = method(
      "Holders.read",
      function* (
        place: HolderPlace,
        { after, key, limit = defaultLimit, permission = "read" }: Request
      ): Effect.fn.Return<HolderPage> {
        const { env, org, project } = place
        const walk = yield* walkAt(place, permission, key)
        const { found, position } = yield* walk(holderPositionOf(after), limit)
        const used = yield* lastUses(
          { log: org.id, project: project.name, env: env.name, key },
          permission,
          Array.filterMap(found, ({ id, kind }) => (kind === "group" ? Option.none() : Option.some(id)))
        )
        const marks = yield* usageOf(
          place,
          found.flatMap(({ calledAt = null, heldSince, id }) =>
            heldSince === undefined ? [] : [{ id, heldSince, calledAt, usedAt: used.get(id) }]
          )
        )
        const reviewed =
          after === undefined ? yield* lastReview({ log: org.id, project: project.name, env: env.name }) : undefined
        const { count } = yield* repo.superadmins({ orgId: org.id })
        return {
          data: found.map(({ calledAt: _called, heldSince: _held, ...holder }) => {
            if (holder.kind === "group") return holder
            const usage = marks.get(holder.id)
            return {
              ...holder,
              last_used_at: used.get(holder.id) ?? null,
              ...(usage !== undefined && { usage })
            }
          }),
          superadmins: count,
          ...(reviewed !== undefined && { reviewed }),
          pagination: paginationOf(limit, position === null ? null : holderCursorOf(position))
        }
      }
    )

    /** Counts who has a permission. A large organization takes a while: call it before the change that records it. */
    const count = Effect.fnUntraced(function* (place: HolderPlace, permission: Permission = "read") {
      const walk = yield* walkAt(place, permission, undefined)
      const counted = { user: 0, service_account: 0, group: 0, delegations: 0 }
      for (let position: HolderPosition | null = holderPositionOf(undefined); position !== null;) {
        const step: Effect.Effect.Success<ReturnType<typeof walk>> = yield* walk(position, defaultLimit)
        for (const { delegations = [], kind } of step.found) {
          counted.delegations += delegations.length
          for (const one of holderKinds) if (one === kind) counted[one] += 1
        }
        position = step.position
      }
      const { delegations, group, service_account, user } = counted
      return { permission, people: user, service_accounts: service_account, groups: group, delegations }
    })

    /** Records that the caller reviewed who has a permission. */
    const review = method(
      "Holders.review",
      function* (
        place: Place<"access.review">,
        counted: Effect.Effect.Success<ReturnType<typeof count>>,
        note: string | undefined
      ) {
        const record: AccessReview = { by: actorName(place.actor), at: yield* now, ...counted }
        yield* audit.change(sourceOf(place), {
          action: "acl.review",
          resource_type: "env",
          resource_id: place.env.id,
          metadata: { ...counted, ...(note !== undefined && { note }) }
        })
        return record
      }
    )

    return { read, count, review } as const
  }),
  dependencies: [AuditIndex.Default]
}) {}
