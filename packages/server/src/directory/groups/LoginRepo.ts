import { OrgId, UserId } from "@coffer/domain/base/Ids"
import { Email, GroupName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { unendedLogin } from "../../access/place/PlaceRow.js"
import { listed, valuesOf } from "../../database/ListedValues.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { makePurge } from "../../database/jobs/Purge.js"

const LoginRow = Schema.Struct({
  email: Schema.typeSchema(Email),
  logged_in_at: Schema.Number,
  /** When its groups stop to count, in milliseconds since 1970. */
  expires_at: Schema.Number,
  after_org: Schema.String
})
export type LoginRow = typeof LoginRow.Type

const EndRow = Schema.Struct({ expires_at: Schema.Number })
const UserRow = Schema.Struct({ user_id: UserId })
const NameRow = Schema.Struct({ provider_group: Schema.String })
const MembershipRow = Schema.Struct({ org_id: OrgId, accepted_at: Schema.NullOr(Schema.String) })

const MappedRow = Schema.Struct({
  provider_group: Schema.String,
  group_name: GroupName,
  /** Whether an earlier login brought the person into the group, and counted until this one. */
  is_held: Schema.Literal(0, 1),
  /** Whether this login brings the person into the group. */
  is_brought: Schema.Literal(0, 1)
})
export type MappedRow = typeof MappedRow.Type

export const loginGroupPurge = makePurge({ table: "login_groups", key: "user_id, org_id, provider_group" })
export const providerGroupPurge = makePurge({ table: "provider_groups", key: "user_id, provider_group" })

const memberships = sql`
  SELECT m.org_id AS org_id, m.accepted_at AS accepted_at FROM members m
  WHERE m.user_id = ${"userId"} AND m.removed_at IS NULL AND m.org_id > ${"after"} ORDER BY m.org_id LIMIT ${"limit"}`

export const loginGroupsRepo = Effect.map(
  query,
  ({ all, first, insert, locking, lockingSoon, returning, run, write }) => {
    const read = all(MembershipRow)`${memberships}`
    const locked = locking(MembershipRow)`${memberships}`
    const namesIn = run(NameRow)

    return {
      /** The names of a list that an organization maps. */
      mappedOf: (names: ReadonlyArray<string>) =>
        namesIn(
          sql`SELECT DISTINCT provider_group FROM group_mappings WHERE provider_group IN (${listed("name", names)})`,
          valuesOf("name", names)
        ),

      /** Begins a login, and returns its end. Its row locks out other logins of the person, and their steps. */
      begin: returning(EndRow)`
      INSERT INTO group_logins (user_id, logged_in_at, expires_at, after_org)
      VALUES (${"userId"}, ${databaseTime}, ${databaseTime} + ${"maxAge"}, '')
      ON CONFLICT (user_id) DO UPDATE SET logged_in_at = excluded.logged_in_at, expires_at = excluded.expires_at, after_org = ''
      RETURNING expires_at`,

      removeNames: write`DELETE FROM provider_groups WHERE user_id = ${"userId"}`,

      insertNames: insert("provider_groups", ["user_id", "provider_group", "expires_at"]),

      hold: lockingSoon`SELECT user_id FROM group_logins WHERE user_id = ${"userId"}`,

      /** The login of a person whose steps are not complete. */
      find: first(LoginRow)`
      SELECT u.email AS email, l.logged_in_at AS logged_in_at, l.expires_at AS expires_at, l.after_org AS after_org
      FROM group_logins l JOIN users u ON u.id = l.user_id WHERE l.user_id = ${"userId"}`,

      proceed: write`UPDATE group_logins SET after_org = ${"after"} WHERE user_id = ${"userId"}`,

      complete: write`DELETE FROM group_logins WHERE user_id = ${"userId"}`,

      /** The people whose last login has steps left. */
      unfinished: all(UserRow)`
      SELECT user_id FROM group_logins WHERE user_id > ${"after"} ORDER BY user_id LIMIT ${"limit"}`,

      /**
       * Memberships of a person after an organization, which it locks: a removal waits, and deletes what the login brought; an acceptance
       * comes before the step or after it.
       */
      memberships: (values: Parameters<typeof read>[0]) =>
        Effect.flatMap(locked(values), (rows) => (rows === null ? read(values) : Effect.succeed(rows))),

      /** The groups that an organization maps; none of a removed one. */
      mapped: all(MappedRow)`
      SELECT x.provider_group AS provider_group, g.name AS group_name,
        CASE WHEN EXISTS (
          SELECT 1 FROM login_groups lg
          WHERE lg.user_id = ${"userId"} AND lg.org_id = x.org_id AND lg.provider_group = x.provider_group
            AND lg.expires_at > ${"loggedInAt"}) THEN 1 ELSE 0 END AS is_held,
        CASE WHEN EXISTS (
          SELECT 1 FROM provider_groups lg
          WHERE lg.user_id = ${"userId"} AND lg.provider_group = x.provider_group AND ${unendedLogin})
        THEN 1 ELSE 0 END AS is_brought
      FROM organizations o JOIN group_mappings x ON x.org_id = o.id JOIN groups g ON g.id = x.group_id
      WHERE o.id = ${"orgId"} AND o.removed_at IS NULL ORDER BY x.provider_group, g.name`,

      remove: write`DELETE FROM login_groups WHERE user_id = ${"userId"} AND org_id = ${"orgId"}`,

      insert: insert("login_groups", ["user_id", "org_id", "provider_group", "expires_at"])
    } as const
  }
)
