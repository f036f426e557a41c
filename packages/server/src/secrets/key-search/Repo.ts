import type { EnvId, ProjectId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { joined, query, type Sql, sql, usingIndex } from "../../database/Query.js"

const KeyRow = Schema.Struct({
  /** The number of the range that the key is in. */
  slot: Schema.Number,
  key: SecretKey,
  version: Schema.Number,
  updated_at: Schema.String,
  /** Null if the current version does not exist: somebody then edited the database. */
  format: Schema.NullOr(Schema.Number),
  declared: Schema.Literal(0, 1)
})
export type KeyRow = typeof KeyRow.Type

/** A range of keys in one environment: from a text, and below another one. */
export interface KeyRange {
  readonly projectId: ProjectId
  readonly envId: EnvId
  readonly from: string
  readonly below: string
}

/** How many ranges one statement reads. */
export const rangesAtOnce = 24

const slots = Array.makeBy(rangesAtOnce, (slot) => slot)

const at = (name: keyof KeyRange, slot: number) => sql`${`${name}${slot}`}`

/** Reads the first keys of each range. Each branch has a limit, so that a statement has a bounded cost. */
const inRanges = (condition: Sql<string>): Sql<string> =>
  joined(
    slots.map((slot) => {
      const [project, env, from, below] = [
        at("projectId", slot),
        at("envId", slot),
        at("from", slot),
        at("below", slot)
      ]
      return sql`SELECT * FROM (
          SELECT ${sql([String(slot)])} AS slot, s.key AS key, s.version AS version, s.updated_at AS updated_at,
            (SELECT v.format FROM secret_versions v WHERE v.secret_id = s.id AND v.version = s.version) AS format,
            CASE WHEN EXISTS (SELECT 1 FROM declared_keys d WHERE d.project_id = ${project} AND d.key = s.key)
              THEN 1 ELSE 0 END AS declared
          FROM secrets s ${usingIndex("secrets_live")}
          WHERE s.env_id = ${env} AND s.removed_at IS NULL AND s.key >= ${from} AND s.key < ${below} ${condition}
          ORDER BY s.key LIMIT ${"limit"}) AS range_${sql([String(slot)])}`
    }),
    sql` UNION ALL `
  )

/** Keys that contain a text in any case, and begin with none of its spellings. */
const inside = sql`AND lower(s.key) LIKE ${"pattern"} ESCAPE '!'
  AND substr(s.key, 1, ${"length"}) NOT IN (${"typed"}, ${"upper"}, ${"lower"})`

const valuesOf = (ranges: ReadonlyArray<KeyRange>) =>
  Object.fromEntries(
    slots.flatMap((slot) => {
      // A slot without a range finds nothing.
      const range = ranges[slot] ?? { projectId: "", envId: "", from: "", below: "" }
      return Object.entries(range).map(([name, value]) => [`${name}${slot}`, value] as const)
    })
  )

const inOrder = (rows: ReadonlyArray<KeyRow>): ReadonlyArray<KeyRow> =>
  [...rows].sort((a, b) => a.slot - b.slot || (a.key < b.key ? -1 : 1))

/** Looks for keys by ranges of an index. */
export const keySearchRepo = Effect.map(query, ({ all }) => {
  const within = all(KeyRow)`${inRanges(sql``)}`
  const containing = all(KeyRow)`${inRanges(inside)}`

  return {
    /** The first keys of each range, in the order of the ranges. */
    within: (ranges: ReadonlyArray<KeyRange>, limit: number) =>
      Effect.map(within({ ...valuesOf(ranges), limit }), inOrder),

    /** Like `within`, of keys that contain a text and do not begin with it. */
    containing: (
      ranges: ReadonlyArray<KeyRange>,
      text: { readonly typed: string; readonly upper: string; readonly lower: string },
      limit: number
    ) =>
      Effect.map(
        containing({
          ...valuesOf(ranges),
          ...text,
          pattern: `%${text.lower.replaceAll("_", "!_")}%`,
          length: text.typed.length,
          limit
        }),
        inOrder
      )
  } as const
})
