import type { OrgName, EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { pacing } from "../../base/EventLoop.js"
import type { DueRow } from "./JobRepo.js"

const rowsAtOnce = 200

/** A due date of an existing secret, to which a person has to see. */
export interface Due extends DueRow {
  readonly org: OrgName
  readonly project: ProjectName
  readonly env: EnvName
  readonly key: SecretKey
  readonly version: number
  readonly own_at: string
}

export const isThere = (row: DueRow): row is Due =>
  row.org !== null &&
  row.project !== null &&
  row.env !== null &&
  row.key !== null &&
  row.version !== null &&
  row.own_at !== null

interface Position {
  readonly after: string
  readonly id: string
  readonly limit: number
}

/**
 * Reads due dates page by page, and gives each page's live ones to `step`, until that returns false. A position is a time, by
 * `timeOf`, and the id of a secret.
 */
export const eachDue = <E, R>(
  page: (position: Position) => Effect.Effect<ReadonlyArray<DueRow>>,
  timeOf: (row: DueRow) => string | null,
  step: (rows: ReadonlyArray<Due>) => Effect.Effect<boolean, E, R>
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    const pace = pacing()
    for (let [after, id] = ["", ""]; ;) {
      const rows = yield* page({ after, id, limit: rowsAtOnce })
      const goesOn = yield* step(rows.filter(isThere))
      const last = rows.at(-1)
      if (!goesOn || last === undefined || rows.length < rowsAtOnce) return
      after = timeOf(last) ?? after
      id = last.id
      yield* pace
    }
  })
