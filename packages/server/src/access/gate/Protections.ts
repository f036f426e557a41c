import type { EnvId, OrgId, UserId } from "@coffer/domain/base/Ids"
import { UserId as UserIdSchema } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import { approverRoles, type Approvers } from "@coffer/domain/access/Protection"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"
import { etagOfAll } from "../../http/ETag.js"

const ProtectionRow = Schema.Struct({
  needed: Schema.Number,
  approvers: Schema.String,
  self: Schema.Number,
  break_glass: Schema.String,
  expires_after: Schema.String,
  passkey: Schema.Number,
  version: Schema.Number,
  updated_by: Schema.String,
  updated_at: Schema.String
})

const VoterRow = Schema.Struct({
  id: UserIdSchema,
  email: Schema.typeSchema(Email),
  accepted_at: Schema.NullOr(Schema.String)
})

/** The protection of an environment. */
export interface StoredProtection {
  readonly needed: number
  readonly approvers: Approvers
  readonly self: boolean
  readonly break_glass: ReadonlyArray<Email>
  readonly expires_after: string
  readonly passkey: boolean
  readonly version: number
  readonly updated_by: string
  readonly updated_at: string
  readonly etag: string
}

/** A person who may vote. */
export interface Voter {
  readonly id: UserId
  readonly email: Email
  /** When the person accepted the membership; null: nobody knows whether the person ever will. */
  readonly accepted_at: string | null
}

const isEmail = Schema.is(Schema.typeSchema(Email))

/** The addresses of a JSON column. What is none names nobody. */
export const emailsIn = (text: string): ReadonlyArray<Email> => {
  const found: unknown = JSON.parse(text)
  const all: ReadonlyArray<unknown> = Array.isArray(found) ? found : []
  return all.filter(isEmail)
}

const isRoleName = (text: string): text is (typeof approverRoles)[number] =>
  Predicate.isString(text) && approverRoles.some((role) => role === text)

/** A column: a word, or a JSON list of addresses. */
export const approversIn = (text: string): Approvers => (isRoleName(text) ? text : emailsIn(text))

export const approversText = (approvers: Approvers): string =>
  typeof approvers === "string" ? approvers : JSON.stringify(approvers)

const protectionOf = (row: typeof ProtectionRow.Type): StoredProtection => ({
  ...row,
  approvers: approversIn(row.approvers),
  self: row.self === 1,
  break_glass: emailsIn(row.break_glass),
  passkey: row.passkey === 1,
  etag: etagOfAll(row.version, row.updated_at)
})

/** Reads protections of environments and the people who vote. */
export const makeProtections = Effect.gen(function* () {
  const { all, first } = yield* query

  const ofEnv = first(ProtectionRow)`
    SELECT needed, approvers, self, break_glass, expires_after, passkey, version, updated_by, updated_at
    FROM protections WHERE env_id = ${"envId"} AND removed_at IS NULL`

  const byRole = all(VoterRow)`
    SELECT u.id AS id, u.email AS email, m.accepted_at AS accepted_at
    FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
    WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL
      AND (m.role = 'owner' OR (m.role = 'admin' AND ${"admins"} = 1))
    ORDER BY m.user_id`

  const byEmail = first(VoterRow)`
    SELECT u.id AS id, u.email AS email, m.accepted_at AS accepted_at FROM users u
    JOIN members m ON m.user_id = u.id AND m.org_id = ${"orgId"} AND m.removed_at IS NULL
    WHERE u.email = ${"email"} AND u.disabled_at IS NULL`

  /** The protection of an environment; null if it has none. */
  const find = (envId: EnvId): Effect.Effect<StoredProtection | null> =>
    Effect.map(ofEnv({ envId }), (row) => (row === undefined ? null : protectionOf(row)))

  /** The members who may vote now, with those who have not accepted yet. */
  const candidatesOf = (orgId: OrgId, approvers: Approvers): Effect.Effect<ReadonlyArray<Voter>> =>
    typeof approvers === "string"
      ? byRole({ orgId, admins: approvers === "admins" ? 1 : 0 })
      : Effect.map(
          Effect.forEach(approvers, (email) => byEmail({ orgId, email })),
          (rows) => rows.flatMap((row) => (row === undefined ? [] : [row]))
        )

  /** The members who may vote now. Their mails and counts are of people who have accepted alone. */
  const votersOf = (orgId: OrgId, approvers: Approvers): Effect.Effect<ReadonlyArray<Voter>> =>
    Effect.map(candidatesOf(orgId, approvers), (all) => all.filter(({ accepted_at }) => accepted_at !== null))

  return { find, candidatesOf, votersOf } as const
})
