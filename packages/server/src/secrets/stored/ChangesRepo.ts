import type { EnvId, SecretId } from "@coffer/domain/base/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { joined, query, sql } from "../../database/Query.js"
import { dueMoves } from "./DueMoves.js"
import type { Sealed } from "../../keys/Envelope.js"
import { missingEnvironment } from "./Repo.js"

const TotalsRow = Schema.Struct({
  revision: Schema.Number,
  secret_count: Schema.Number,
  value_bytes: Schema.Number,
  /** 0: nothing declared; 1: declared; 2: declared, in strict mode. */
  declares: Schema.Literal(0, 1, 2),
  /** Whether a secret of the environment is to be replaced at an age. */
  rotating: Schema.Literal(0, 1),
  /** Whether a target of the environment waits until the server tries again. */
  retrying: Schema.Literal(0, 1)
})
export type Totals = typeof TotalsRow.Type

/** A change of one secret: its environment, revision, author and time. */
interface NewChange {
  readonly env_id: EnvId
  readonly revision: number
  readonly key: SecretKey
  readonly secret_id: SecretId
  readonly version: number
  readonly created_by: string
  readonly created_at: string
}

export interface NewVersion extends Sealed, NewChange {
  readonly value_bytes: number
}

/** The most secrets that one prepared statement makes current. */
const advancedAtOnce = 64

/** The columns of a version that has a value. */
export const versionColumns = [
  ...["secret_id", "version", "revision", "format", "kek_id", "wrapped_key", "ciphertext"],
  ...["value_bytes", "created_by", "created_at"]
] as const

/** The statements that change the secrets of an environment. */
export const changesRepo = Effect.gen(function* () {
  const { first, insert, write } = yield* query
  const moveDues = yield* dueMoves

  // Sent ahead, so without the time: the place of the same transaction says whether the environment has ended.
  const totals = first(TotalsRow)`
      SELECT e.revision AS revision, e.secret_count AS secret_count, e.value_bytes AS value_bytes, CASE
          WHEN EXISTS (SELECT 1 FROM declared_keys d WHERE d.project_id = e.project_id)
          THEN 1 + (SELECT p.strict FROM projects p WHERE p.id = e.project_id)
          ELSE 0 END AS declares,
        CASE WHEN EXISTS (
          SELECT 1 FROM secret_dues d WHERE d.env_id = e.id AND d.rotate_every_days IS NOT NULL
        ) THEN 1 ELSE 0 END AS rotating,
        CASE WHEN EXISTS (
          SELECT 1 FROM targets t WHERE t.env_id = e.id AND t.retry_at IS NOT NULL
        ) THEN 1 ELSE 0 END AS retrying
      FROM environments e WHERE e.id = ${"id"} AND e.removed_at IS NULL`

  const insertSecrets = insert("secrets", ["id", "env_id", "key", "version", "created_at", "updated_at"])
  const insertVersions = insert("secret_versions", versionColumns)
  const recordChanges = insert("secret_changes", [
    ...["env_id", "revision", "key", "secret_id", "version", "change", "created_by", "created_at"]
  ])

  const setVersion = write`
      UPDATE secrets SET version = ${"version"}, updated_at = ${"created_at"} WHERE id = ${"secret_id"}`

  const advance = (count: number) => {
    const names = Array.makeBy(count, (index) => `id_${index}`)
    const ids = joined(
      names.map((name) => sql`${name}`),
      sql`, `
    )
    const run = write`
        UPDATE secrets SET version = version + 1, updated_at = ${"created_at"} WHERE id IN (${ids})`
    return (rows: Array.NonEmptyReadonlyArray<NewVersion>) => {
      const [first] = rows
      // A repeated id serves any number of rows with one text.
      const values = names.map((name, index) => [name, (rows[index] ?? first).secret_id] as const)
      return run({ created_at: first.created_at, ...Object.fromEntries(values) })
    }
  }
  const advanceMany = advance(advancedAtOnce)
  const advanceFew = advance(16)

  /** Makes new versions current, each the next one of its secret. */
  const advanceAll = (rows: ReadonlyArray<NewVersion>) =>
    Effect.forEach(
      Array.chunksOf(rows, advancedAtOnce),
      (some) =>
        some.length === 1 ? setVersion({ ...some[0] }) : some.length > 16 ? advanceMany(some) : advanceFew(some),
      { discard: true }
    )

  const remove = write`
      UPDATE secrets SET removed_at = ${"created_at"}, removed_revision = ${"revision"} WHERE id = ${"secret_id"}`

  const restore = write`
      UPDATE secrets SET removed_at = NULL, removed_revision = NULL, updated_at = ${"created_at"}
      WHERE id = ${"secret_id"}`

  const retryTargets = write`
      UPDATE targets SET retry_at = NULL WHERE env_id = ${"envId"} AND EXISTS (
        SELECT 1 FROM secret_changes c
        WHERE c.env_id = targets.env_id AND c.revision = ${"revision"} AND c.key = targets.credential_key)`

  return {
    /** The totals of an environment, which only changes of its organization move. Fails with NotFound if it is removed. */
    totals: (env: { readonly id: EnvId; readonly name: EnvName }) =>
      Effect.flatMap(totals({ id: env.id }), (found) =>
        found === undefined ? missingEnvironment(env.name) : Effect.succeed(found)
      ),

    /** Sends the statement of `totals` before it is needed. */
    totalsAhead: (env: { readonly id: EnvId }) => totals.ahead({ id: env.id }),

    setTotals: write`
        UPDATE environments
        SET revision = ${"revision"}, secret_count = ${"secret_count"}, value_bytes = ${"value_bytes"}
        WHERE id = ${"id"}`,

    insertSecrets,

    recordChanges,

    addNote: write`
        INSERT INTO revision_notes (env_id, revision, note) VALUES (${"envId"}, ${"revision"}, ${"note"})`,

    /** Inserts versions and makes them current. A version 1 creates its secret. */
    insertVersions: (rows: ReadonlyArray<NewVersion>) =>
      Effect.gen(function* () {
        const [later, first] = Array.partition(rows, ({ version }) => version === 1)
        yield* insertSecrets(
          first.map(({ created_at, secret_id: id, ...row }) => ({ ...row, id, created_at, updated_at: created_at }))
        )
        yield* advanceAll(later)
        yield* insertVersions(rows.map((row) => ({ ...row })))
        yield* recordChanges(rows.map((row) => ({ ...row, change: row.version === 1 ? "created" : "updated" })))
      }),

    remove: (row: NewChange) => Effect.zipRight(remove({ ...row }), recordChanges([{ ...row, change: "deleted" }])),

    restore: (row: NewChange) => Effect.zipRight(restore({ ...row }), recordChanges([{ ...row, change: "undeleted" }])),

    /** Call after the versions of a revision are inserted. */
    moveDues,

    /** Tries the targets again at once whose credential a revision changed: it may be why the last push failed. */
    retryTargets: ({ retrying }: Pick<Totals, "retrying">, envId: EnvId, revision: number) =>
      retrying === 0 ? Effect.void : retryTargets({ envId, revision }),

    /** Deletes the ciphertext and the data key of a version; `secure_delete` overwrites the freed bytes. */
    destroyVersion: write`
        UPDATE secret_versions SET wrapped_key = NULL, ciphertext = ${"nothing"}, destroyed_at = ${"now"}
        WHERE secret_id = ${"id"} AND version = ${"version"}`
  } as const
})
