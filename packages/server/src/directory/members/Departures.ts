import { OrgId } from "@coffer/domain/base/Ids"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { nextTick } from "../../base/EventLoop.js"
import { Database } from "../../database/Database.js"
import { endedAtOnce, inSteps, type Step } from "../../database/InSteps.js"
import { isBusy } from "../../database/jobs/EachRow.js"
import type { Ending } from "../../database/jobs/Purge.js"
import { query, type Sql, sql } from "../../database/Query.js"
import { IdRow } from "../../database/Rows.js"
import { orgScope } from "../../database/Scopes.js"

/** A person or a service account that does not belong to an organization any more. */
export interface Departed {
  readonly orgId: OrgId
  readonly subjectId: string
}

/** The same, and whether it has left rows for another transaction. */
export type Departure = Departed & Step

const SubjectRow = Schema.Struct({ org_id: OrgId, subject_id: Schema.String, is_here: Schema.Literal(0, 1) })

/** How many subjects one statement of the job reads. */
const readAtOnce = 20

const isMember = sql`EXISTS (
  SELECT 1 FROM members m WHERE m.org_id = a.org_id AND m.user_id = a.subject_id AND m.removed_at IS NULL)`

/** The condition of rows `a` whose subject belongs to their organization. */
const isHere = sql`(${isMember} OR EXISTS (
  SELECT 1 FROM service_accounts t WHERE t.id = a.subject_id AND t.org_id = a.org_id AND t.removed_at IS NULL))`

/**
 * Ends what a caller chose the number of: the places of a subject in use rules, and its votes for requests that wait. Statements that
 * read them skip subjects that have left. So the removal ends some of them in its own transaction, and the rest after its commit.
 */
export const makeDepartures = Effect.gen(function* () {
  const { change } = yield* Database
  const { returning } = yield* query

  const endUses = returning(IdRow)`
    DELETE FROM use_rule_accounts WHERE (rule_id, position) IN (
      SELECT a.rule_id, a.position FROM use_rule_accounts a
      WHERE a.subject_id = ${"subjectId"} AND a.org_id = ${"orgId"} AND NOT ${isHere} LIMIT ${"limit"})
    RETURNING rule_id AS id`

  const endVotes = returning(IdRow)`
    DELETE FROM request_votes WHERE (request_id, user_id) IN (
      SELECT v.request_id, v.user_id FROM requests r
      JOIN request_votes v ON v.request_id = r.id AND v.user_id = ${"subjectId"}
      WHERE r.org_id = ${"orgId"} AND r.state = 'pending' AND NOT EXISTS (
        SELECT 1 FROM members m WHERE m.org_id = r.org_id AND m.user_id = v.user_id AND m.removed_at IS NULL)
      LIMIT ${"limit"})
    RETURNING request_id AS id`

  /** Ends some rows. Call it in a transaction that holds the organization, after the statement that ends the membership. */
  const endSome = Effect.fnUntraced(function* ({ orgId, subjectId }: Departed) {
    const some = { orgId, subjectId, limit: endedAtOnce }
    const ended = [yield* endUses(some), yield* endVotes(some)]
    const departure: Departure = { orgId, subjectId, hasMore: ended.some(({ length }) => length === endedAtOnce) }
    return departure
  })

  return {
    endSome,

    /** Ends the rest after the commit of a removal. */
    endRest: ({ hasMore, orgId, subjectId }: Departure): Effect.Effect<void> =>
      hasMore
        ? inSteps(change([orgScope(orgId)], endSome({ orgId, subjectId }))).pipe(
            Effect.asVoid,
            Effect.catchAllCause((cause) =>
              Effect.logWarning(
                "use rules still name a member or an account that was removed: maintenance ends it",
                cause
              )
            )
          )
        : Effect.void
  } as const
})

const skippedIfBusy = (cause: Cause.Cause<never>) => (isBusy(cause) ? Option.some(Effect.void) : Option.none())

/**
 * Ends what removals left that were cut off. Votes need none of it: they end with their request. Reads the index of subjects once, and
 * leaves those of a busy organization to the next run.
 */
export const departurePurge = Effect.gen(function* () {
  const { all } = yield* query
  const { endSome } = yield* makeDepartures

  const following = (subject: Sql<"subject" | "org">) => sql`
    SELECT n.rule_id, n.position FROM use_rule_accounts n
    WHERE (n.subject_id, n.org_id) > (${subject}) ORDER BY n.subject_id, n.org_id LIMIT 1`

  const subjectsAfter = all(SubjectRow)`
    WITH RECURSIVE subjects (org_id, subject_id, number) AS (
      SELECT a.org_id, a.subject_id, 1 FROM use_rule_accounts a
      WHERE (a.rule_id, a.position) = (${following(sql`${"subject"}, ${"org"}`)})
      UNION ALL
      SELECT a.org_id, a.subject_id, s.number + 1 FROM subjects s
      JOIN use_rule_accounts a ON (a.rule_id, a.position) = (${following(sql`s.subject_id, s.org_id`)})
      WHERE s.number < ${"limit"})
    SELECT a.org_id AS org_id, a.subject_id AS subject_id, CASE WHEN ${isHere} THEN 1 ELSE 0 END AS is_here
    FROM subjects a ORDER BY a.number`

  const purge: Ending = {
    table: "use_rule_accounts",
    run: (fenced) =>
      Effect.gen(function* () {
        for (let after = { subject: "", org: "" }; ;) {
          const found = yield* subjectsAfter({ ...after, limit: readAtOnce })
          for (const { is_here, org_id: orgId, subject_id: subjectId } of found) {
            if (is_here === 1) continue
            yield* fenced(endSome({ orgId, subjectId }), [orgScope(orgId)]).pipe(
              Effect.zipLeft(nextTick),
              Effect.repeat({ while: ({ hasMore }) => hasMore }),
              Effect.asVoid,
              Effect.catchSomeCause(skippedIfBusy)
            )
          }
          const last = found.at(-1)
          if (last === undefined || found.length < readAtOnce) return
          after = { subject: last.subject_id, org: last.org_id }
          yield* nextTick
        }
      })
  }
  return purge
})
