import { NotFound } from "@coffer/domain/Errors"
import { type EnvId, type EnvName, SecretId, SecretKey } from "@coffer/domain/Names"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Statements } from "../database/Client.js"
import { Reader } from "../database/Reader.js"
import { rowsBy } from "../database/Rows.js"
import { rowsOf } from "../database/Writer.js"
import { type Sealed, wrappedKeyBytes } from "../keys/Envelope.js"
import { nonceBytes } from "../keys/Keyring.js"
import { turn } from "../Turn.js"

const Bytes = Schema.Uint8ArrayFromSelf

/** Whether a secret's version is the highest that it has. Only somebody who writes to the file makes it another one. */
const Newest = Schema.Literal(0, 1)

const sealedFields = { format: Schema.Number, kek_id: Schema.String, sealed: Schema.NullOr(Bytes) }

const SealedRow = Schema.Struct({
  id: SecretId,
  version: Schema.Number,
  destroyed_at: Schema.NullOr(Schema.String),
  ...sealedFields
})
export type SealedRow = typeof SealedRow.Type

const ContentRow = Schema.Struct({ value_bytes: Schema.Number, ...sealedFields })

const CurrentRow = Schema.Struct({
  id: SecretId,
  key: SecretKey,
  version: Schema.Number,
  newest: Newest,
  updated_at: Schema.String
})

const EveryCurrentRow = Schema.Struct({
  ...CurrentRow.fields,
  revision: Schema.Number,
  secret_count: Schema.Number,
  value_bytes: Schema.Number
})

const WholeRow = Schema.Struct({ ...CurrentRow.fields, ...ContentRow.fields })

/** The current version of a secret. What it holds is read when it is asked for: undefined when that version is gone. */
export interface CurrentSecret extends Schema.Schema.Type<typeof CurrentRow> {
  readonly content: () => typeof ContentRow.Type | undefined
}

const LiveRow = Schema.Struct({
  id: SecretId,
  version: Schema.Number,
  newest: Newest,
  created_at: Schema.String,
  value_bytes: Schema.Number
})
export type LiveRow = typeof LiveRow.Type

const TotalsRow = Schema.Struct({
  revision: Schema.Number,
  secret_count: Schema.Number,
  value_bytes: Schema.Number
})
export type Totals = typeof TotalsRow.Type

/** An environment at one moment. */
export interface Contents {
  readonly totals: Totals
  readonly secrets: ReadonlyArray<CurrentSecret>
}

const VersionRow = Schema.Struct({
  version: Schema.Number,
  created_at: Schema.String,
  created_by: Schema.String,
  destroyed_at: Schema.NullOr(Schema.String)
})
export type VersionRow = typeof VersionRow.Type

const WholeVersionRow = Schema.Struct({
  ...VersionRow.fields,
  value_bytes: Schema.Number,
  wrapped_key: Schema.NullOr(Bytes),
  ...sealedFields
})
export type WholeVersionRow = typeof WholeVersionRow.Type

const VersionOfRow = Schema.Struct({ id: SecretId, version: Schema.Number, newest: Newest })
const IdRow = Schema.Struct({ id: Schema.String })

const ChangeRow = Schema.Struct({
  revision: Schema.Number,
  key: SecretKey,
  version: Schema.Number,
  change: Schema.String,
  created_by: Schema.NullOr(Schema.String),
  created_at: Schema.String
})
export type ChangeRow = typeof ChangeRow.Type

const EarlierRow = Schema.Struct({
  key: SecretKey,
  secret_id: Schema.NullOr(SecretId),
  version: Schema.NullOr(Schema.Number),
  change: Schema.NullOr(Schema.String)
})
export type EarlierRow = typeof EarlierRow.Type

const RevisionRow = Schema.Struct({ revision: Schema.Number })

/**
 * What a version sealed, its parts as one: a blob of a row costs as much as opening it. None where one is missing or has another
 * length.
 */
const sealedColumns = `v.format AS format, v.kek_id AS kek_id,
  CASE WHEN length(v.nonce) = ${nonceBytes} AND length(v.key_nonce) = ${nonceBytes}
      AND length(v.wrapped_key) = ${wrappedKeyBytes}
    THEN CAST(v.nonce || v.key_nonce || v.wrapped_key || v.ciphertext AS BLOB) END AS sealed`

const newest = "(s.version IS (SELECT max(n.version) FROM secret_versions n WHERE n.secret_id = s.id))"

/** The newest version of each secret; nothing of it, so that it does not open, where the secret points to another one. */
const newestVersion = `LEFT JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version AND ${newest}`

const sealedColumnsOfNewest = sealedColumns
  .replace("v.format", "coalesce(v.format, 0)")
  .replace("v.kek_id", "coalesce(v.kek_id, '')")

const versionOfSecret = `
  SELECT s.id AS id, v.version AS version, v.destroyed_at AS destroyed_at, ${sealedColumns}
  FROM secrets s JOIN secret_versions v ON v.secret_id = s.id AND v.version = ?
  WHERE s.env_id = ? AND s.key = ? AND s.removed_at IS NULL`

const currentSecret = `
  SELECT s.id AS id, s.version AS version, v.destroyed_at AS destroyed_at, ${sealedColumnsOfNewest}
  FROM secrets s ${newestVersion}
  WHERE s.env_id = ? AND s.key = ? AND s.removed_at IS NULL`

const currentColumns = "s.id AS id, s.key AS key, s.version AS version, s.updated_at AS updated_at"

/** A page of the secrets of an environment, behind a key. */
const pageOfCurrent = `
  SELECT ${currentColumns}, ${newest} AS newest
  FROM secrets s WHERE s.env_id = ? AND s.removed_at IS NULL AND s.key > ? ORDER BY s.key LIMIT ?`

/** The secrets of an environment, each with the totals, so that both are of one moment. */
const everyCurrent = `
  SELECT ${currentColumns}, ${newest} AS newest, e.revision AS revision, e.secret_count AS secret_count,
    e.value_bytes AS value_bytes
  FROM environments e CROSS JOIN secrets s ON s.env_id = e.id AND s.removed_at IS NULL
  WHERE e.id = ? AND e.removed_at IS NULL ORDER BY s.key`

const everyWhole = `
  SELECT ${currentColumns}, v.version IS NOT NULL AS newest, coalesce(v.value_bytes, 0) AS value_bytes,
    ${sealedColumnsOfNewest}
  FROM secrets s ${newestVersion}
  WHERE s.env_id = ? AND s.removed_at IS NULL ORDER BY s.key`

const oneContent = `SELECT v.value_bytes AS value_bytes, ${sealedColumns} FROM secret_versions v
  WHERE v.secret_id = ? AND v.version = ?`

const liveColumns = `s.id AS id, s.version AS version, v.version IS NOT NULL AS newest, s.created_at AS created_at,
  coalesce(v.value_bytes, 0) AS value_bytes`

const totalsOf = `SELECT revision, secret_count, value_bytes FROM environments WHERE id = ? AND removed_at IS NULL`

/** An environment of no more is read with all that it holds: a statement for each secret would take longer. */
const small = { secrets: 200, bytes: 256 * 1024 }

/** How many secrets of a larger one a statement reads. A row of a secret costs as much as the values around it are large. */
const secretsAtOnce = 100

export const missingEnvironment = (name: EnvName) =>
  new NotFound({ message: `environment ${name} is not there, or not yours to see` })

/** Which secret a change of an environment is about, and who made it when. */
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

/** The keys of an environment in byte order, each found by one step in the index whatever the length of its history. */
const changeOfEachKey = `
  WITH RECURSIVE keys (key) AS (
    SELECT min(key) FROM secret_changes WHERE env_id = ? AND key > ?
    UNION ALL
    SELECT (SELECT min(key) FROM secret_changes WHERE env_id = ? AND key > keys.key) FROM keys WHERE key IS NOT NULL
    LIMIT ?
  )
  SELECT k.key AS key, c.secret_id AS secret_id, c.version AS version, c.change AS change
  FROM keys k LEFT JOIN secret_changes c ON c.env_id = ? AND c.key = k.key AND c.revision = (
    SELECT max(revision) FROM secret_changes WHERE env_id = ? AND key = k.key AND revision <= ?)
  WHERE k.key IS NOT NULL ORDER BY k.key`

export class SecretsRepo extends Effect.Service<SecretsRepo>()("@coffer/server/SecretsRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const { run } = yield* Statements
    const totals = rowsBy(run)(TotalsRow)
    const readTotals = reader.rowsNow(TotalsRow)
    const lives = rowsBy(run)(LiveRow)
    const sealed = reader.rowsNow(SealedRow)
    const listed = reader.rows(CurrentRow)
    const listedInSlices = reader.manyRows(CurrentRow)
    const versionsOf = reader.rows(VersionOfRow)
    const versions = reader.rows(VersionRow)
    const changes = reader.rows(ChangeRow)
    const earlier = rowsBy(run)(EarlierRow)
    const since = rowsBy(run)(RevisionRow)

    const recordChange = (row: NewChange, change: "created" | "updated" | "deleted" | "undeleted") =>
      run(
        `INSERT INTO secret_changes (env_id, revision, key, secret_id, version, change, created_by, created_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        [row.env_id, row.revision, row.key, row.secret_id, row.version, change, row.created_by, row.created_at]
      )

    /** The totals of an environment, and its secrets where they are few. None when the environment is removed. */
    const smallBy = (rows: typeof reader.rowsNow) => {
      const [totals, wholes] = [rows(TotalsRow), rows(WholeRow)]
      return (envId: EnvId) => {
        const [found] = totals(totalsOf, [envId])
        if (found === undefined) return undefined
        const isSmall = found.secret_count <= small.secrets && found.value_bytes <= small.bytes
        const secrets = isSmall
          ? wholes(everyWhole, [envId]).map((row): CurrentSecret => ({ ...row, content: () => row }))
          : null
        return { totals: found, secrets }
      }
    }

    const currentBy = (rows: typeof reader.rowsNow) => {
      const contents = rows(ContentRow)
      return ({ id, key, newest, updated_at, version }: typeof CurrentRow.Type): CurrentSecret => ({
        ...{ id, key, newest, updated_at, version },
        content: () => (newest === 1 ? contents(oneContent, [id, version])[0] : undefined)
      })
    }

    const smallContents = smallBy(reader.rowsNow)
    const readCurrent = currentBy(reader.rowsNow)
    const everyOne = reader.manyRows(EveryCurrentRow)

    const contents = (envId: EnvId): Effect.Effect<Contents | undefined> =>
      Effect.suspend(() => {
        const found = smallContents(envId)
        if (found === undefined) return Effect.succeed(undefined)
        const { secrets, totals } = found
        if (secrets !== null) return Effect.succeed({ totals, secrets })
        return Effect.flatMap(everyOne(everyCurrent, [envId]), (rows) => {
          const [first] = rows
          if (first === undefined) {
            // The secrets were deleted between the two statements.
            const emptied = smallContents(envId)
            return Effect.succeed(emptied && { totals: emptied.totals, secrets: emptied.secrets ?? [] })
          }
          const { revision, secret_count, value_bytes } = first
          return Effect.succeed({ totals: { revision, secret_count, value_bytes }, secrets: rows.map(readCurrent) })
        })
      })

    const smallForUpdate = smallBy(rowsBy(run))
    const currentForUpdate = currentBy(rowsBy(run))
    const currentPage = rowsBy(run)(CurrentRow)

    const contentsForUpdate = Effect.fnUntraced(function* (envId: EnvId) {
      const found = smallForUpdate(envId)
      if (found === undefined) return undefined
      const { secrets, totals } = found
      if (secrets !== null) return { totals, secrets } satisfies Contents
      const read: Array<CurrentSecret> = []
      for (;;) {
        const rows = currentPage(pageOfCurrent, [envId, read.at(-1)?.key ?? "", secretsAtOnce])
        for (const row of rows) read.push(currentForUpdate(row))
        if (rows.length < secretsAtOnce) return { totals, secrets: read } satisfies Contents
        yield* turn
      }
    })

    return {
      /** At once: it is what most requests ask for. */
      read: (envId: EnvId, key: SecretKey, version: number | null) =>
        (version === null ? sealed(currentSecret, [envId, key]) : sealed(versionOfSecret, [version, envId, key]))[0],

      list: (envId: EnvId) =>
        Effect.suspend(() => {
          const [found] = readTotals(totalsOf, [envId])
          const isLarge = found !== undefined && found.secret_count > small.secrets
          return (isLarge ? listedInSlices : listed)(everyCurrent, [envId])
        }),

      revision: (envId: EnvId) => readTotals(totalsOf, [envId])[0]?.revision,

      /**
       * The secrets of an environment and its totals, as they are at one moment; many are read in slices. None when the
       * environment is removed.
       */
      contents,

      /** As `contents`, inside a transaction of the writing connection. */
      contentsForUpdate,

      // What a change to a secret takes is done at once, and so belongs inside a transaction.

      /** None when the environment is removed. */
      totals: (envId: EnvId) => totals(totalsOf, [envId])[0],

      setTotals: (envId: EnvId, { revision, secret_count, value_bytes }: Totals) =>
        run(`UPDATE environments SET revision = ?, secret_count = ?, value_bytes = ? WHERE id = ?`, [
          revision,
          secret_count,
          value_bytes,
          envId
        ]),

      /** Takes the environment's own row first, for a change that is none of its content. False when it is removed. */
      claim: (envId: EnvId) =>
        Effect.map(
          rowsOf(IdRow)(
            sql`UPDATE environments SET revision = revision WHERE id = ${envId} AND removed_at IS NULL RETURNING id`
          ),
          (rows) => rows.length === 1
        ),

      findLive: (envId: EnvId, key: SecretKey) =>
        lives(
          `SELECT ${liveColumns} FROM secrets s ${newestVersion}
          WHERE s.env_id = ? AND s.key = ? AND s.removed_at IS NULL`,
          [envId, key]
        )[0],

      insertSecret: (row: {
        readonly id: SecretId
        readonly env_id: EnvId
        readonly key: SecretKey
        readonly created_at: string
      }) =>
        run(`INSERT INTO secrets (id, env_id, key, version, created_at, updated_at) VALUES (?, ?, ?, 1, ?, ?)`, [
          row.id,
          row.env_id,
          row.key,
          row.created_at,
          row.created_at
        ]),

      setVersion: (id: SecretId, version: number, now: string) =>
        run(`UPDATE secrets SET version = ?, updated_at = ? WHERE id = ?`, [version, now, id]),

      insertVersion: (row: NewVersion) => {
        run(
          `INSERT INTO secret_versions (secret_id, version, revision, format, kek_id, ciphertext, nonce, wrapped_key,
            key_nonce, value_bytes, created_by, created_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          [
            row.secret_id,
            row.version,
            row.revision,
            row.format,
            row.kek_id,
            row.ciphertext,
            row.nonce,
            row.wrapped_key,
            row.key_nonce,
            row.value_bytes,
            row.created_by,
            row.created_at
          ]
        )
        recordChange(row, row.version === 1 ? "created" : "updated")
      },

      remove: (row: NewChange) => {
        run(`UPDATE secrets SET removed_at = ?, removed_revision = ? WHERE id = ?`, [
          row.created_at,
          row.revision,
          row.secret_id
        ])
        recordChange(row, "deleted")
      },

      currentVersion: (envId: EnvId, key: SecretKey) =>
        Effect.map(
          versionsOf(
            `SELECT s.id AS id, s.version AS version, ${newest} AS newest FROM secrets s
              WHERE s.env_id = ? AND s.key = ? AND s.removed_at IS NULL`,
            [envId, key]
          ),
          (rows) => rows[0]
        ),

      versions: (id: SecretId, before: number | null, limit: number) =>
        versions(
          `SELECT version, created_at, created_by, destroyed_at FROM secret_versions
            WHERE secret_id = ? AND version < ? ORDER BY version DESC LIMIT ?`,
          [id, before ?? Number.MAX_SAFE_INTEGER, limit]
        ),

      findVersion: (id: SecretId, version: number) =>
        Effect.map(
          rowsOf(WholeVersionRow)(
            sql.unsafe(
              `SELECT v.version AS version, v.created_at AS created_at, v.created_by AS created_by,
                v.destroyed_at AS destroyed_at, v.value_bytes AS value_bytes, v.wrapped_key AS wrapped_key, ${sealedColumns}
              FROM secret_versions v WHERE v.secret_id = ? AND v.version = ?`,
              [id, version]
            )
          ),
          (rows) => rows[0]
        ),

      /** The record of a key that was removed last. */
      findRemoved: (envId: EnvId, key: SecretKey) =>
        Effect.map(
          rowsOf(LiveRow)(
            sql.unsafe(
              `SELECT ${liveColumns} FROM secrets s ${newestVersion}
                WHERE s.env_id = ? AND s.key = ? AND s.removed_at IS NOT NULL
                ORDER BY s.removed_revision DESC LIMIT 1`,
              [envId, key]
            )
          ),
          (rows) => rows[0]
        ),

      restore: (row: NewChange) => {
        run(`UPDATE secrets SET removed_at = NULL, removed_revision = NULL, updated_at = ? WHERE id = ?`, [
          row.created_at,
          row.secret_id
        ])
        recordChange(row, "undeleted")
      },

      /** The newest changes of an environment, below a revision when one is given; the last keys of a revision first. */
      changes: (envId: EnvId, before: number | null, limit: number) =>
        changes(
          `SELECT revision, key, version, change, created_by, created_at FROM secret_changes
            WHERE env_id = ? AND revision < ? ORDER BY revision DESC, key DESC LIMIT ?`,
          [envId, before ?? Number.MAX_SAFE_INTEGER, limit]
        ),

      /** The first revision from which on the history of an environment is whole. */
      wholeSince: (envId: EnvId) =>
        since(`SELECT revision FROM secret_changes_since WHERE env_id = ?`, [envId])[0]?.revision ?? 0,

      /** The last change of each key up to a revision; nulls for a key that came later. Keys above `after`, at most `limit`. */
      changesUpTo: (envId: EnvId, revision: number, after: string, limit: number) =>
        earlier(changeOfEachKey, [envId, after, envId, limit, envId, envId, revision]),

      /** Erases what a version sealed and its data key; the database overwrites what it frees. */
      destroyVersion: (id: SecretId, version: number, now: string) =>
        sql`UPDATE secret_versions SET wrapped_key = NULL, key_nonce = NULL, destroyed_at = ${now},
          ciphertext = ${new Uint8Array()}, nonce = ${new Uint8Array()}
          WHERE secret_id = ${id} AND version = ${version}`
    } as const
  })
}) {}
