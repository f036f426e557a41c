import * as Schema from "effect/Schema"
import { OpenPermission } from "../access/AclRule.js"
import { dueFields } from "./Due.js"
import { endsAt, position } from "../directory/Environment.js"
import { EnvName, SecretKey } from "../base/Names.js"
import { Count, field, optional, updatedAt } from "../base/Schemas.js"
import { secretKind } from "./Secret.js"
import { TargetState, targetStateText } from "./TargetState.js"

/** The maximum number of environments in a matrix. */
export const maxMatrixEnvironments = 24

const etag = `"Zk3n0fQxk8vR7yB2mJtW5cLsEaH"`

export const MatrixEnvironment = Schema.Struct({
  name: field(EnvName, "its name"),
  position,
  protected: optional(Schema.Boolean, "true: each change needs the votes of its protection; absent: it has none", true),
  expires_at: endsAt,
  allowed: field(Schema.Array(OpenPermission), "the caller's permissions on its secrets; empty: its cells are null", [
    "read",
    "write"
  ]),
  left_out: optional(
    Count,
    "if rules give the caller some keys alone: how many secrets it may not list, which have no cells; `allowed` is for the others",
    3
  ),
  reveals: field(Schema.Boolean, "whether the caller may read values"),
  revision: field(
    Schema.NullOr(Count),
    "grows with every write or removal of a secret in the environment; null without `read`",
    42
  ),
  targets: optional(
    TargetState,
    `the worst state of its targets at their last checks: ${targetStateText}; absent: none was checked, or the caller lacks \`admin\``,
    "changed there"
  ),
  etag: field(
    Schema.NullOr(Schema.String),
    "the environment's ETag, for the `If-Match` of a write; null without `read`",
    etag
  )
}).annotations({ identifier: "MatrixEnvironment", description: "an environment of a matrix" })
export type MatrixEnvironment = typeof MatrixEnvironment.Type

export const MatrixCell = Schema.Struct({
  version: field(Count, "the number of the version, from 1"),
  updated_at: updatedAt,
  updated_by: field(Schema.String, "the e-mail or service account name of the last writer", "ada@example.com"),
  same: field(
    Schema.NullOr(Count),
    "cells of a row with equal numbers have equal values; null: the value does not decrypt",
    1
  ),
  kind: secretKind,
  ...dueFields
}).annotations({ identifier: "MatrixCell", description: "a secret in one environment, without its value" })
export type MatrixCell = typeof MatrixCell.Type

const [apiKey, databaseUrl] = [SecretKey.make("API_KEY"), SecretKey.make("DATABASE_URL")]
const cell: MatrixCell = {
  version: 2,
  updated_at: "2026-02-01T08:30:00.000Z",
  updated_by: "ada@example.com",
  same: 1
}

export const MatrixRow = Schema.Struct({
  key: field(SecretKey, "the secret's key"),
  cells: field(
    Schema.Array(Schema.NullOr(MatrixCell)),
    "one cell for each of `environments`, in the same order; null: there is no secret, or the caller may not see it"
  )
}).annotations({
  identifier: "MatrixRow",
  description: "one key in all environments of a project",
  examples: [
    { key: apiKey, cells: [cell, null] },
    { key: databaseUrl, cells: [cell, { ...cell, version: 3, same: 2 }] }
  ]
})
export type MatrixRow = typeof MatrixRow.Type

/** Keys are in byte order. */
export const Matrix = Schema.Struct({
  environments: field(
    Schema.Array(MatrixEnvironment),
    `the environments of the columns, by name: at most ${maxMatrixEnvironments}`,
    [
      { name: EnvName.make("dev"), allowed: ["read", "write"], reveals: true, revision: 42, etag },
      { name: EnvName.make("prod"), allowed: ["read"], reveals: true, revision: 17, etag }
    ]
  ),
  others: field(Schema.Array(EnvName), "environments of the project that are not in this matrix", []),
  data: field(Schema.Array(MatrixRow), "the records")
}).annotations({ identifier: "Matrix", description: "the keys of all environments of a project, without values" })
export type Matrix = typeof Matrix.Type
