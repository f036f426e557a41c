import { OrgId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { nextTick } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { inOrganization } from "../../database/jobs/EachRow.js"
import type { Ending } from "../../database/jobs/Purge.js"
import { databaseTime, query } from "../../database/Query.js"
import { IdRow } from "../../database/Rows.js"
import { makeRemovals } from "../../directory/trash/Removals.js"

/** How many rows of a kind one transaction changes. */
const rowsAtOnce = 200

const EndedRow = Schema.Struct({ org_id: OrgId, name: Schema.String })
const PersonRow = Schema.Struct({ rule_id: Schema.String })

/**
 * Gives up imports that have ended unfinished: deletes the people that were to come, removes the members, and lets the values be
 * erased. Their organizations stay behind as removed ones, which nobody has seen.
 */
export const importPurge = Effect.gen(function* () {
  const { first, returning, write } = yield* query
  const removals = yield* makeRemovals

  const next = first(EndedRow)`
    SELECT org_id, name FROM imports WHERE expires_at <= ${databaseTime} ORDER BY expires_at LIMIT 1`

  /** An import that was finished in time has no row any more: its organization is live. */
  const isEnded = first(EndedRow)`
    SELECT org_id, name FROM imports WHERE org_id = ${"orgId"} AND expires_at <= ${databaseTime}`

  const deletePeople = returning(PersonRow)`
    DELETE FROM import_use_people WHERE (org_id, rule_id, position) IN (
      SELECT org_id, rule_id, position FROM import_use_people WHERE org_id = ${"orgId"} LIMIT ${"limit"})
    RETURNING rule_id`

  const removeMembers = returning(IdRow)`
    UPDATE members SET removed_at = ${"now"} WHERE id IN (
      SELECT m.id FROM members m WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL ORDER BY m.id LIMIT ${"limit"})
    RETURNING id`

  const forget = write`DELETE FROM imports WHERE org_id = ${"orgId"}`

  /** Gives up some rows of an import, and the import with the last ones. */
  const giveUpSome = Effect.fnUntraced(function* ({ name, org_id: orgId }: typeof EndedRow.Type) {
    if ((yield* isEnded({ orgId })) === undefined) return
    const batch = { orgId, limit: rowsAtOnce }
    const people = yield* deletePeople(batch)
    const members = yield* removeMembers({ ...batch, now: yield* now })
    if (people.length === rowsAtOnce || members.length === rowsAtOnce) return
    yield* forget({ orgId })
    yield* removals.ended({ kind: "org", id: orgId, orgId, projectId: null, name })
  })

  const purge: Ending = {
    table: "imports",
    run: (fenced) =>
      Effect.gen(function* () {
        for (let found = yield* next({}); found !== undefined; found = yield* next({})) {
          // While its organization is busy, it is left to the next run.
          if (!(yield* inOrganization(found.org_id, giveUpSome(found), fenced))) return
          yield* nextTick
        }
      })
  }
  return purge
})
