import type { Declaration, DeclaredKey, RequiredIn } from "@coffer/domain/secrets/DeclaredKey"
import type { ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { query, sql } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"

const text = Schema.NullOr(Schema.String)

const DeclaredRow = Schema.Struct({
  key: SecretKey,
  required_in: Schema.String,
  pattern: text,
  description: text,
  example: text,
  owner: text,
  updated_by: Schema.String,
  updated_at: Schema.String
})

const KeyRow = Schema.Struct({ key: SecretKey })
const ExpectedRow = Schema.Struct({ key: SecretKey, required_in: Schema.String, pattern: text })

/** The declaration that the values of a key are validated against. */
export interface Expected {
  readonly key: SecretKey
  readonly required_in: RequiredIn
  readonly pattern: string | null
}

/** `*`, or each name between commas. */
const storedNames = (requiredIn: RequiredIn): string =>
  requiredIn === "*" ? "*" : requiredIn.length === 0 ? "" : `,${requiredIn.join(",")},`

const namesOf = (stored: string): RequiredIn =>
  stored === "*"
    ? "*"
    : stored
        .split(",")
        .filter((name) => name !== "")
        .map((name) => EnvName.make(name))

const present = (row: typeof DeclaredRow.Type): Omit<Declaration, "required_in"> => ({
  ...(row.pattern !== null && { pattern: row.pattern }),
  ...(row.description !== null && { description: row.description }),
  ...(row.example !== null && { example: row.example }),
  ...(row.owner !== null && { owner: row.owner })
})

const declaredKeyOf = (row: typeof DeclaredRow.Type): DeclaredKey => ({
  key: row.key,
  required_in: namesOf(row.required_in),
  ...present(row),
  updated_at: row.updated_at,
  updated_by: row.updated_by
})

const expectedOf = ({ key, pattern, required_in }: typeof ExpectedRow.Type): Expected => ({
  key,
  required_in: namesOf(required_in),
  pattern
})

const columns = sql`key, required_in, pattern, description, example, owner, updated_by, updated_at`

/** The keys that projects declare. */
export const declaredRepo = Effect.gen(function* () {
  const { all, first, one, returning, write } = yield* query
  const pages = yield* allPages

  const page = all(DeclaredRow)`
      SELECT ${columns} FROM declared_keys
      WHERE project_id = ${"projectId"} AND key > ${"after"} ORDER BY key LIMIT ${"limit"}`

  const find = first(DeclaredRow)`
      SELECT ${columns} FROM declared_keys WHERE project_id = ${"projectId"} AND key = ${"key"}`

  const expected = all(ExpectedRow)`
      SELECT key, required_in, pattern FROM declared_keys
      WHERE project_id = ${"projectId"} AND key > ${"after"} ORDER BY key LIMIT ${"limit"}`

  const expectedOfKey = all(ExpectedRow)`
      SELECT key, required_in, pattern FROM declared_keys WHERE project_id = ${"projectId"} AND key = ${"key"}`

  const upsert = write`
      INSERT INTO declared_keys (project_id, ${columns})
      VALUES (${"projectId"}, ${"key"}, ${"requiredIn"}, ${"pattern"}, ${"description"}, ${"example"}, ${"owner"},
        ${"updatedBy"}, ${"updatedAt"})
      ON CONFLICT (project_id, key) DO UPDATE SET required_in = excluded.required_in, pattern = excluded.pattern,
        description = excluded.description, example = excluded.example, owner = excluded.owner,
        updated_by = excluded.updated_by, updated_at = excluded.updated_at`

  return {
    /** The declared keys of a project, in byte order. */
    all: (projectId: ProjectId) =>
      Effect.map(
        pages(
          "",
          (after, limit) => page({ projectId, after, limit }),
          ({ key }): string => key
        ),
        (rows) => rows.map(declaredKeyOf)
      ),

    find: (projectId: ProjectId, key: SecretKey) =>
      Effect.map(find({ projectId, key }), (row) => row && declaredKeyOf(row)),

    /** The declarations of the keys of a project, in byte order. */
    expected: (projectId: ProjectId) =>
      Effect.map(
        pages(
          "",
          (after, limit) => expected({ projectId, after, limit }),
          ({ key }): string => key
        ),
        (rows) => rows.map(expectedOf)
      ),

    /** The same for one key: a list of one, or empty. */
    expectedOf: (projectId: ProjectId, key: SecretKey) =>
      Effect.map(expectedOfKey({ projectId, key }), (rows) => rows.map(expectedOf)),

    count: one(CountRow)`SELECT count(*) AS count FROM declared_keys WHERE project_id = ${"projectId"}`,

    set: (projectId: ProjectId, { key, required_in, updated_at, updated_by, ...texts }: DeclaredKey) =>
      upsert({
        projectId,
        key,
        requiredIn: storedNames(required_in),
        pattern: texts.pattern ?? null,
        description: texts.description ?? null,
        example: texts.example ?? null,
        owner: texts.owner ?? null,
        updatedBy: updated_by,
        updatedAt: updated_at
      }),

    remove: returning(KeyRow)`
        DELETE FROM declared_keys WHERE project_id = ${"projectId"} AND key = ${"key"} RETURNING key`
  } as const
})
