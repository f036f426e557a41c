import { NotFound } from "@coffer/domain/errors/Errors"
import { type EnvId, SecretId } from "@coffer/domain/base/Ids"
import { type EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { Database, type Transaction } from "../../database/Database.js"
import { allPages } from "../../database/Pages.js"
import { joined, query, sql } from "../../database/Query.js"
import { dueColumns, dueFields, joinDue } from "./DueColumns.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { refersColumn } from "./ReferencesRepo.js"
import { Newest, newestColumn, newestVersion, sealedColumns, sealedFields, versionColumns } from "./Columns.js"

const SealedRow = Schema.Struct({
  id: SecretId,
  version: Schema.Number,
  destroyed_at: Schema.NullOr(Schema.String),
  ...sealedFields
})

const ListedRow = Schema.Struct({
  id: SecretId,
  key: SecretKey,
  version: Schema.Number,
  newest: Newest,
  updated_at: Schema.String
})
export type ListedRow = typeof ListedRow.Type

const ListedWithDueRow = Schema.Struct({ ...ListedRow.fields, ...dueFields })

const LiveRow = Schema.Struct({
  id: SecretId,
  version: Schema.Number,
  newest: Newest,
  value_bytes: Schema.Number,
  created_at: Schema.String
})

const WholeRow = Schema.Struct({ ...ListedRow.fields, value_bytes: Schema.Number, ...sealedFields })
export type WholeRow = typeof WholeRow.Type

const WholeRowOfEnvironment = Schema.Struct({ ...WholeRow.fields, revision: Schema.Number })
const RevisionRow = Schema.Struct({ revision: Schema.Number, refers: Schema.Literal(0, 1) })
const EnvironmentState = Schema.Struct({
  revision: Schema.Number,
  created_at: Schema.String,
  updated_at: Schema.NullOr(Schema.String)
})
export type EnvironmentState = typeof EnvironmentState.Type
const EmptyRow = Schema.Struct({ revision: Schema.Number, secrets: Schema.Literal(0, 1) })

/** A snapshot of an environment. */
export interface Contents {
  readonly revision: number
  readonly secrets: ReadonlyArray<WholeRow>
  /** Whether secrets that are not among these refer to other environments. */
  readonly refers: boolean
}

export const missingEnvironment = (name: EnvName) =>
  new NotFound({ message: `environment ${name} does not exist, or is not yours to see` })

const wholeColumns = sql`${versionColumns}, s.key AS key, s.updated_at AS updated_at, ${sealedColumns}`

/** How many keys one statement finds. */
export const keysAtOnce = 16
const keyNames = Array.makeBy(keysAtOnce, (index) => `key${index}`)

const ofKey = sql`s.env_id = ${"envId"} AND s.key = ${"key"} AND s.removed_at IS NULL`

/** The live secrets of environments. */
export const secretsRepo = Effect.gen(function* () {
  const { all, first } = yield* query
  const { snapshot } = yield* Database
  const pages = yield* allPages

  const listed = all(ListedWithDueRow)`
      SELECT s.id AS id, s.key AS key, s.version AS version, s.updated_at AS updated_at, ${newestColumn}, ${dueColumns}
      FROM secrets s ${joinDue} WHERE s.env_id = ${"envId"} AND s.removed_at IS NULL AND s.key > ${"after"}
      ORDER BY s.key LIMIT ${"limit"}`

  const whole = all(WholeRowOfEnvironment)`
      SELECT e.revision AS revision, ${wholeColumns}
      FROM environments e JOIN secrets s ON s.env_id = e.id AND s.removed_at IS NULL ${newestVersion}
      WHERE e.id = ${"envId"} AND ${liveEnv} AND s.key > ${"after"}
      ORDER BY s.key LIMIT ${"limit"}`

  const find = first(WholeRow)`SELECT ${wholeColumns} FROM secrets s ${newestVersion} WHERE ${ofKey}`

  const findSome = all(WholeRow)`
      SELECT ${wholeColumns} FROM secrets s ${newestVersion}
      WHERE s.env_id = ${"envId"} AND s.removed_at IS NULL AND s.key IN (${joined(
        keyNames.map((name) => sql`${name}`),
        sql`, `
      )})`

  const revision = first(RevisionRow)`
      SELECT e.revision AS revision, ${refersColumn} FROM environments e
      WHERE e.id = ${"envId"} AND ${liveEnv}`

  const empty = first(EmptyRow)`
      SELECT e.revision AS revision, CASE WHEN EXISTS (
          SELECT 1 FROM secrets s WHERE s.env_id = e.id AND s.removed_at IS NULL) THEN 1 ELSE 0 END AS secrets
      FROM environments e WHERE e.id = ${"envId"} AND ${liveEnv}`

  /** All secrets of an environment with their encrypted columns and the environment's revision. */
  const everyWhole = (envId: EnvId) =>
    pages(
      "",
      (after, limit) => whole({ envId, after, limit }),
      ({ key }): string => key
    )

  /** The parameters of `findSome`. The last statement repeats a key, so that one text serves any number of keys. */
  const someOf = (envId: EnvId, keys: ReadonlyArray<SecretKey>) => ({
    envId,
    ...Object.fromEntries(keyNames.map((name, index) => [name, keys[index] ?? keys[0]] as const))
  })

  /** The keys of each statement that finds some. */
  const chunksOf = (keys: ReadonlyArray<SecretKey>) => Array.chunksOf([...new Set(keys)].sort(), keysAtOnce)

  /** The secrets of the keys that exist. */
  const some = (envId: EnvId, keys: ReadonlyArray<SecretKey>) =>
    Effect.map(
      forEachInSlices(chunksOf(keys), (chunk) => findSome(someOf(envId, chunk))),
      (rows) => rows.flat().sort((a, b) => (a.key < b.key ? -1 : 1))
    )

  const contentsOfAll = Effect.fnUntraced(function* (envId: EnvId) {
    for (;;) {
      const secrets: ReadonlyArray<typeof WholeRowOfEnvironment.Type> = yield* everyWhole(envId)
      const [secret] = secrets
      if (secret !== undefined) return { revision: secret.revision, secrets, refers: false } satisfies Contents
      const found = yield* empty({ envId })
      if (found === undefined) return undefined
      // Otherwise a secret was set between the two statements: read again.
      if (found.secrets === 0) return { revision: found.revision, secrets, refers: false } satisfies Contents
    }
  })

  const contentsOfSome = (envId: EnvId, keys: ReadonlyArray<SecretKey>) =>
    snapshot(
      Effect.gen(function* () {
        const found = yield* revision({ envId })
        if (found === undefined) return undefined
        const secrets = yield* some(envId, keys)
        return { revision: found.revision, secrets, refers: found.refers === 1 } satisfies Contents
      })
    )

  return {
    /** The current version of a secret. */
    findCurrent: first(SealedRow)`
        SELECT s.id AS id, s.version AS version, v.destroyed_at AS destroyed_at, ${sealedColumns}
        FROM secrets s ${newestVersion} WHERE ${ofKey}`,

    findAt: first(SealedRow)`
        SELECT s.id AS id, v.version AS version, v.destroyed_at AS destroyed_at, ${sealedColumns}
        FROM secrets s JOIN secret_versions v ON v.secret_id = s.id AND v.version = ${"version"} WHERE ${ofKey}`,

    /** A live secret without its encrypted columns. */
    findLive: first(LiveRow)`
        SELECT ${versionColumns}, s.created_at AS created_at FROM secrets s ${newestVersion} WHERE ${ofKey}`,

    find,

    /** The secrets of an environment, in byte order of their keys. */
    list: (envId: EnvId) =>
      pages(
        "",
        (after, limit) => listed({ envId, after, limit }),
        ({ key }): string => key
      ),

    /** The revision of an environment, and whether its secrets refer to other environments. */
    revision,

    /** The revision of an environment, when it was created, and when its newest secret was set, if it has one. */
    state: first(EnvironmentState)`
        SELECT e.revision AS revision, e.created_at AS created_at, (
            SELECT max(s.updated_at) FROM secrets s WHERE s.env_id = e.id AND s.removed_at IS NULL) AS updated_at
        FROM environments e WHERE e.id = ${"envId"} AND ${liveEnv}`,

    /** Like `list`, with the encrypted columns. With `keys`, only the secrets of these keys. */
    select: (envId: EnvId, keys: ReadonlyArray<SecretKey> | undefined): Effect.Effect<ReadonlyArray<WholeRow>> =>
      keys === undefined ? everyWhole(envId) : some(envId, keys),

    /** Sends the statement of `select` before it is needed, if one finds all keys. */
    selectAhead: (envId: EnvId, keys: ReadonlyArray<SecretKey>): Effect.Effect<void, never, Transaction> => {
      const [some, ...more] = chunksOf(keys)
      return some === undefined || more.length > 0 ? Effect.void : findSome.ahead(someOf(envId, some))
    },

    /** Like `select`, with the revision of the same snapshot. Undefined if the environment is removed. */
    contents: (envId: EnvId, keys: ReadonlyArray<SecretKey> | undefined): Effect.Effect<Contents | undefined> =>
      keys === undefined ? contentsOfAll(envId) : contentsOfSome(envId, keys)
  } as const
})
