import { EnvId, OrgId, ProjectId, SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../../database/Query.js"
import type { Binding } from "../../keys/Envelope.js"

const stride = 500

const VersionRow = Schema.Struct({
  org_id: OrgId,
  project_id: ProjectId,
  env_id: EnvId,
  secret_id: SecretId,
  key: SecretKey,
  version: Schema.Number,
  format: Schema.Number,
  kek_id: Schema.String,
  wrapped_key: Schema.Uint8ArrayFromSelf,
  ciphertext: Schema.Uint8ArrayFromSelf
})

const selected = sql`
  SELECT p.org_id AS org_id, e.project_id AS project_id, s.env_id AS env_id, v.secret_id AS secret_id,
    s.key AS key, v.version AS version, v.format AS format, v.kek_id AS kek_id,
    v.wrapped_key AS wrapped_key, v.ciphertext AS ciphertext
  FROM secret_versions v JOIN secrets s ON s.id = v.secret_id JOIN environments e ON e.id = s.env_id
  JOIN projects p ON p.id = e.project_id
  WHERE v.destroyed_at IS NULL`

const bindingOf = (row: typeof VersionRow.Type): Binding => ({
  orgId: row.org_id,
  projectId: row.project_id,
  envId: row.env_id,
  secretId: row.secret_id,
  key: row.key,
  version: row.version
})

/** A page of versions with their bindings, after a version in primary-key order. Includes removed secrets. */
const page = Effect.map(
  query,
  ({ all }) => all(VersionRow)`${selected} AND (v.secret_id, v.version) > (${"secretId"}, ${"version"})
    ORDER BY v.secret_id, v.version LIMIT ${"limit"}`
)

/** Finds a version that is not destroyed, with its binding. */
export const versionOf = Effect.map(query, ({ first }) => {
  const find = first(VersionRow)`${selected} AND v.secret_id = ${"secretId"} AND v.version = ${"version"}`
  return (secretId: string, version: number) =>
    Effect.map(find({ secretId, version }), (row) => (row === undefined ? row : { row, binding: bindingOf(row) }))
})

/** Visits every version that is not destroyed, in primary-key order, and returns their number. */
export const eachVersion = <E, R>(
  visit: (binding: Binding, row: typeof VersionRow.Type) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    const behind = yield* page
    let done = 0
    let last = { secret_id: "", version: 0 }
    for (;;) {
      const rows = yield* behind({ secretId: last.secret_id, version: last.version, limit: stride })
      for (const row of rows) {
        yield* visit(bindingOf(row), row)
        last = row
      }
      done += rows.length
      if (rows.length < stride) return done
    }
  })
