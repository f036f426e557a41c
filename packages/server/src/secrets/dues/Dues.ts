import { dueCursorOf, type DuePage, duePositionOf, type DueSecret } from "@coffer/domain/secrets/Due"
import { spanMillis } from "@coffer/domain/base/Span"
import type { Email, SecretKey } from "@coffer/domain/base/Names"
import type { SecretListed } from "@coffer/domain/secrets/Secret"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import { type Place, sourceOf } from "../../access/Access.js"
import { withinKeys } from "../../access/AllowedKeys.js"
import { listedKeys } from "../../access/Rights.js"
import type { KeyReach } from "../../access/place/KeyReach.js"
import { recordAffected } from "../../access/Affected.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { allPages } from "../../database/Pages.js"
import { timestamp } from "../../base/Time.js"
import { pacing } from "../../base/EventLoop.js"
import { secretNotFound } from "../stored/NotThere.js"
import { Versions } from "../stored/Versions.js"
import { method } from "../../base/tracing/Traced.js"
import { dueOf } from "../stored/DueColumns.js"
import { dueTimes } from "../stored/DueMoves.js"
import { duesRepo, type OfOrgRow } from "./Repo.js"

const defaultWithin = "14d"
const defaultLimit = 100
/** How many due dates one statement reads for a page, of which the caller may see some. */
const rowsAtOnce = 200

/** The fields that a change sets; null takes one away. */
export interface DueRequest {
  readonly expires_at?: string | null
  readonly rotate_every_days?: number | null
  readonly owner?: Email | null
}

interface PageRequest {
  readonly within?: string
  readonly limit?: number
  readonly after?: string
}

/** As the database writes times, so that it compares as text. */
const timeOf = (moment: string | null): string | null => (moment === null ? null : timestamp(Date.parse(moment)))

/** An existing secret that is due. */
const dueSecretOf = ({ env, key, project, updated_at, version, ...row }: OfOrgRow): DueSecret | null =>
  project === null || env === null || key === null || version === null || updated_at === null
    ? null
    : { project, env, key, version, updated_at, ...dueOf(row), due_at: row.due_at }

/** When secrets are due, and their owners. It is metadata: nothing is deleted or refused because of it. */
export class Dues extends Effect.Service<Dues>()("@coffer/server/Dues", {
  effect: Effect.gen(function* () {
    const repo = yield* duesRepo
    const versions = yield* Versions
    const audit = yield* AuditLog
    const pages = yield* allPages

    const update = method("Dues.update", function* (place: Place<"secret.write">, key: SecretKey, request: DueRequest) {
      const current = yield* repo.current({ envId: place.env.id, key })
      if (current === undefined) return yield* secretNotFound(key)
      yield* versions.checkNewest(place, { ...current, key })
      const { expires_at, id, owner, rotate_every_days, turn_at, updated_at, version } = current
      const before = { expires_at, rotate_every_days, owner }
      const terms = {
        ...before,
        ...request,
        ...(request.expires_at !== undefined && { expires_at: timeOf(request.expires_at) })
      }
      const { ownAt } = dueTimes(current, current.version_at)
      const times = dueTimes({ ...terms, turn_at }, current.version_at)
      const changed = Struct.entries(terms).filter(([name, value]) => value !== before[name])
      recordAffected(place, [{ key, change: "due", id, version }])
      if (changed.length > 0) {
        const { expires_at, owner, rotate_every_days } = terms
        yield* repo.save([
          {
            ...{ secret_id: id, org_id: place.org.id, env_id: place.env.id },
            ...{ owner, expires_at, rotate_every_days, due_at: times.dueAt },
            // The entries about a due date are made once.
            event_at: times.ownAt === ownAt ? current.event_at : times.eventAt
          }
        ])
        yield* repo.touch({ envId: place.env.id })
        yield* audit.change(sourceOf(place), {
          action: "secret.update",
          resource_type: "secret",
          resource_id: id,
          metadata: { key, version, ...Object.fromEntries(changed) }
        })
      }
      const updated: SecretListed = { key, version, updated_at, ...dueOf({ ...terms, turn_at, due_at: times.dueAt }) }
      return updated
    })

    const untilOf = (within: string) =>
      Effect.map(Clock.currentTimeMillis, (millis) => timestamp(millis + spanMillis(within)))

    /** The secrets of an environment that are overdue or due soon, in byte order of their keys. */
    const listWithin = method("Dues.listWithin", function* (place: Place<"secret.list">, within: string) {
      const until = yield* untilOf(within)
      const rows = yield* pages(
        duePositionOf(undefined),
        ({ due_at, id }, limit) => repo.within({ envId: place.env.id, until, dueAt: due_at, id, limit }),
        (row) => row
      )
      const shown = withinKeys(place, rows)
      for (const row of shown) yield* versions.checkNewest(place, row)
      return shown
        .map(({ key, updated_at, version, ...row }): SecretListed => ({ key, version, updated_at, ...dueOf(row) }))
        .sort((a, b) => (a.key < b.key ? -1 : 1))
    })

    /** A page of the due secrets of an organization, of those environments whose keys the caller may list. */
    const list = method(
      "Dues.list",
      function* (place: Place<"due.list">, { after, limit = defaultLimit, within = defaultWithin }: PageRequest) {
        const until = yield* untilOf(within)
        const found: Array<{ readonly row: OfOrgRow; readonly secret: DueSecret }> = []
        // Many secrets are in few places, and a caller may have many rules.
        const known = new Map<string, KeyReach | null | undefined>()
        const maySee = ({ project_id }: OfOrgRow, secret: DueSecret) => {
          const name = `${secret.project}/${secret.env}`
          if (!known.has(name)) known.set(name, listedKeys(place, project_id, secret))
          const keys = known.get(name)
          return keys !== undefined && keys?.has(secret.key) !== false
        }
        const pace = pacing()
        for (let { due_at, id } = duePositionOf(after); found.length <= limit;) {
          const rows = yield* repo.ofOrg({ orgId: place.org.id, until, dueAt: due_at, id, limit: rowsAtOnce })
          for (const row of rows) {
            const secret = dueSecretOf(row)
            if (secret !== null && maySee(row, secret)) found.push({ row, secret })
          }
          const last = rows.at(-1)
          if (last === undefined || rows.length < rowsAtOnce) break
          due_at = last.due_at
          id = last.id
          yield* pace
        }
        const shown = found.slice(0, limit)
        const last = shown.at(-1)
        const has_next = found.length > limit
        const answer: DuePage = {
          data: shown.map(({ secret }) => secret),
          pagination: { limit, has_next, next_cursor: has_next && last !== undefined ? dueCursorOf(last.row) : null }
        }
        return answer
      }
    )

    return { update, listWithin, list } as const
  }),
  dependencies: [Versions.Default]
}) {}
