import type { EnvId, OrgId, RotationId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import { timestamp } from "../../base/Time.js"
import { dueTimes } from "../stored/DueMoves.js"
import { duesRepo } from "./Repo.js"
import { type TurningRow, turnRepo } from "./TurnRepo.js"

/** A rotation, and the keys that it writes. */
interface Turning {
  readonly id: RotationId
  readonly env_id: EnvId
  readonly org_id: OrgId
  readonly keys: ReadonlyArray<string>
}

/**
 * Makes the function that notes when a rotation turns next: its secrets are due then. Secrets that it no longer writes, and all of
 * them without a next turn, are due as people set it. Call it in the transaction that changes the rotation. It moves the date of no
 * entry and no mail, except where the age of a version ceases to count or counts again.
 */
export const turnDues = Effect.gen(function* () {
  const repo = yield* turnRepo
  const { touch } = yield* duesRepo

  return ({ env_id, id, keys, org_id }: Turning, nextMillis: number | null) =>
    Effect.gen(function* () {
      const envId = env_id
      const next = nextMillis === null ? null : timestamp(nextMillis)
      const found = yield* Effect.forEach(next === null ? [] : keys, (key) => repo.live({ envId, key }))
      const live = found.filter((row) => row !== undefined)
      const ids = new Set(live.map((row) => row.id))
      const former = (yield* repo.ofRotation({ envId, id })).filter((row) => !ids.has(row.id))
      const moved = (row: TurningRow, turn_at: string | null) => {
        const { ownAt } = dueTimes(row, row.version_at)
        const times = dueTimes({ ...row, turn_at }, row.version_at)
        return {
          ...{ secret_id: row.id, org_id, env_id, owner: row.owner, expires_at: row.expires_at },
          ...{ rotate_every_days: row.rotate_every_days, rotation_id: turn_at === null ? null : id, turn_at },
          due_at: times.dueAt,
          // The entries about a due date are made once.
          event_at: times.ownAt === ownAt ? row.event_at : times.eventAt
        }
      }
      const rows = [...live.map((row) => moved(row, next)), ...former.map((row) => moved(row, null))]
      if (rows.length === 0) return
      yield* repo.save(rows)
      yield* touch({ envId })
    })
})
