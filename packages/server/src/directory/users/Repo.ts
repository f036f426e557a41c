import { OrgId, ServiceAccountId, UserId } from "@coffer/domain/base/Ids"
import { Email, OrgName, ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import { maxCounted } from "@coffer/domain/directory/UserRecord"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveSession } from "../../access/caller/ActorRepo.js"
import { acceptedMember } from "../../access/place/PlaceRow.js"
import type { SessionLimits } from "../../access/caller/SessionLimits.js"
import { query, type Sql, sql } from "../../database/Query.js"
import { CountRow, IdRow } from "../../database/Rows.js"

const UserRow = Schema.Struct({
  id: UserId,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  superadmin: Schema.Number,
  disabled_at: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  last_seen_at: Schema.NullOr(Schema.String),
  organizations: Schema.Number,
  sessions: Schema.Number
})
export type UserRow = typeof UserRow.Type

const CreatedRow = Schema.Struct({
  id: ServiceAccountId,
  name: ServiceAccountName,
  org: OrgName,
  project: Schema.NullOr(ProjectName),
  created_at: Schema.String,
  last_used_at: Schema.NullOr(Schema.String)
})

const EmailRow = Schema.Struct({ email: Schema.typeSchema(Email) })
const OrganizationRow = Schema.Struct({ id: OrgId, name: OrgName })

const users = sql`
  SELECT u.id AS id, u.email AS email, u.name AS name, u.superadmin AS superadmin, u.disabled_at AS disabled_at,
    u.created_at AS created_at, u.last_seen_at AS last_seen_at,
    (SELECT count(*) FROM (SELECT 1 FROM members m JOIN organizations o ON o.id = m.org_id AND o.removed_at IS NULL
      WHERE m.user_id = u.id AND m.removed_at IS NULL LIMIT ${"maxCounted"}) AS few) AS organizations,
    (SELECT count(*) FROM (SELECT 1 FROM sessions s
      WHERE s.user_id = u.id AND ${liveSession} LIMIT ${"maxCounted"}) AS few) AS sessions
  FROM users u`

const maxAccounts = 1_000

export interface Filters {
  /** The prefix of an address, in lowercase. */
  readonly prefix?: string
  readonly disabled?: boolean
  /** The cursor: only users whose addresses sort after this one. */
  readonly behind?: string
}

export const usersRepo = Effect.gen(function* () {
  const { all, first, one, returning } = yield* query

  const where = <Name extends string>(condition: Sql<Name>) => all(UserRow)`
    ${users} WHERE ${condition} AND u.email >= ${"from"} AND u.email < ${"until"} ORDER BY u.email LIMIT ${"limit"}`
  const anyone = where(sql`TRUE`)
  const disabledOnes = where(sql`u.disabled_at IS NOT NULL`)
  const enabledOnes = where(sql`u.disabled_at IS NULL`)

  const find = first(UserRow)`${users} WHERE u.id = ${"id"}`

  const accountsOf = all(CreatedRow)`
    SELECT a.id AS id, a.name AS name, o.name AS org, p.name AS project, a.created_at AS created_at,
      a.last_used_at AS last_used_at
    FROM service_accounts a
    JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
    LEFT JOIN projects p ON p.id = a.project_id
    WHERE a.created_by = ${"email"} AND a.removed_at IS NULL ORDER BY o.name, a.name LIMIT ${"limit"}`

  return {
    /** Users sorted by address, with the number of their live sessions. */
    page: ({ behind = "", disabled, prefix = "" }: Filters, limits: SessionLimits, limit: number) => {
      const page = disabled === undefined ? anyone : disabled ? disabledOnes : enabledOnes
      // Addresses are ASCII without spaces or DEL: `a ` sorts right after `a`, and DEL after every character.
      const from = behind >= prefix ? `${behind} ` : prefix
      return page({ from, until: `${prefix}\x7f`, ...limits, limit, maxCounted })
    },

    emailOf: first(EmailRow)`SELECT email FROM users WHERE id = ${"id"}`,

    find: (id: UserId, limits: SessionLimits) => find({ id, ...limits, maxCounted }),

    /** No row if the user is already disabled. */
    disable: returning(IdRow)`
      UPDATE users SET disabled_at = ${"now"}, updated_at = ${"now"}
      WHERE id = ${"id"} AND disabled_at IS NULL RETURNING id`,

    /** No row if the user is not disabled. */
    enable: returning(IdRow)`
      UPDATE users SET disabled_at = NULL, updated_at = ${"now"}
      WHERE id = ${"id"} AND disabled_at IS NOT NULL RETURNING id`,

    /** Removes votes for requests that wait. Those of a disabled person count for nothing. */
    removeVotes: returning(IdRow)`
      DELETE FROM request_votes WHERE (request_id, user_id) IN (
        SELECT v.request_id, v.user_id FROM requests r
        JOIN request_votes v ON v.request_id = r.id AND v.user_id = ${"id"}
        WHERE r.state = 'pending' LIMIT ${"limit"})
      RETURNING request_id AS id`,

    /** The organizations whose membership a person has accepted, after one. */
    organizationsOf: all(OrganizationRow)`
      SELECT o.id AS id, o.name AS name FROM members m JOIN organizations o ON o.id = m.org_id AND o.removed_at IS NULL
      WHERE m.user_id = ${"userId"} AND ${acceptedMember} AND o.id > ${"after"}
      ORDER BY o.id LIMIT ${"limit"}`,

    countEnabledSuperadmins: one(CountRow)`
      SELECT count(*) AS count FROM users WHERE superadmin = 1 AND disabled_at IS NULL`,

    /** The service accounts that a person created, in every organization. */
    accountsOf: (email: Email) => accountsOf({ email, limit: maxAccounts })
  } as const
})
