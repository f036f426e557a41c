import { type OrgId, ScimUserId, UserId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import { Role } from "@coffer/domain/directory/Member"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { listed, valuesOf } from "../../database/ListedValues.js"
import { makePurge } from "../../database/jobs/Purge.js"
import { allPages } from "../../database/Pages.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow, IdRow } from "../../database/Rows.js"

const PersonRow = Schema.Struct({
  id: ScimUserId,
  email: Schema.typeSchema(Email),
  external_id: Schema.NullOr(Schema.String),
  attributes: Schema.String,
  revision: Schema.Number,
  created_at: Schema.String,
  updated_at: Schema.String,
  /** Null until somebody with the address is known here. */
  user_id: Schema.NullOr(UserId),
  /** Null unless the person is a member. */
  role: Schema.NullOr(Role)
})
export type PersonRow = typeof PersonRow.Type

const EndingRow = Schema.Struct({ role: Role, ended_at: Schema.String, rules: Schema.String, groups: Schema.String })
export type EndingRow = typeof EndingRow.Type

const PlainRow = Schema.Struct({ superadmin: Schema.Number })

export const scimEndingPurge = makePurge({ table: "scim_endings", key: "org_id, email" })

const idsAtOnce = 200

const person = sql`
  SELECT s.id AS id, s.email AS email, s.external_id AS external_id, s.attributes AS attributes,
    s.revision AS revision, s.created_at AS created_at, s.updated_at AS updated_at, u.id AS user_id, m.role AS role
  FROM scim_users s LEFT JOIN users u ON u.email = s.email
  LEFT JOIN members m ON m.org_id = s.org_id AND m.user_id = u.id AND m.removed_at IS NULL
  WHERE s.org_id = ${"orgId"}`

export const peopleRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, run, write } = yield* query
  const pages = yield* allPages

  const page = all(PersonRow)`${person} AND s.id > ${"after"} ORDER BY s.id LIMIT ${"limit"}`
  const some = run(PersonRow)

  return {
    /** All whom the directory has listed: at most 10,000. */
    all: (orgId: OrgId) =>
      pages(
        "",
        (after, limit) => page({ orgId, after, limit }),
        ({ id }): string => id
      ),

    /** Some of them in their order, skipping others. */
    slice: all(PersonRow)`${person} ORDER BY s.id LIMIT ${"limit"} OFFSET ${"skipped"}`,

    find: first(PersonRow)`${person} AND s.id = ${"id"}`,

    byName: all(PersonRow)`${person} AND s.name_key = ${"key"}`,

    byEmail: all(PersonRow)`${person} AND s.email = ${"email"}`,

    byExternalId: all(PersonRow)`${person} AND s.external_id = ${"externalId"} ORDER BY s.id LIMIT 200`,

    /** Those of a list of ids, in any order. */
    byIds: (orgId: OrgId, ids: ReadonlyArray<string>) =>
      Effect.map(
        Effect.forEach(
          Array.from({ length: Math.ceil(ids.length / idsAtOnce) }, (_, index) =>
            ids.slice(index * idsAtOnce, (index + 1) * idsAtOnce)
          ),
          (chunk) => some(sql`${person} AND s.id IN (${listed("id", chunk)})`, { orgId, ...valuesOf("id", chunk) })
        ),
        (found) => found.flat()
      ),

    count: one(CountRow)`SELECT count(*) AS count FROM scim_users WHERE org_id = ${"orgId"}`,

    /** Whether the person with an address is a superadmin of the server. */
    standing: first(PlainRow)`SELECT superadmin FROM users WHERE email = ${"email"}`,

    insert: insert("scim_users", [
      ...(["id", "org_id", "email", "name_key", "external_id", "attributes", "revision"] as const),
      ...(["created_at", "updated_at"] as const)
    ]),

    update: write`
      UPDATE scim_users SET email = ${"email"}, name_key = ${"key"}, external_id = ${"externalId"},
        attributes = ${"attributes"}, revision = revision + 1, updated_at = ${"now"}
      WHERE id = ${"id"}`,

    remove: write`DELETE FROM scim_users WHERE id = ${"id"}`,

    removeFromGroups: write`DELETE FROM scim_group_members WHERE scim_user_id = ${"id"}`,

    /** The role, rules and groups of a membership that the directory ended, for as long as they are kept. */
    ending: first(EndingRow)`
      SELECT role, ended_at, rules, groups FROM scim_endings
      WHERE org_id = ${"orgId"} AND email = ${"email"} AND expires_at > ${databaseTime}`,

    keep: write`
      INSERT INTO scim_endings (org_id, email, role, ended_at, rules, groups, expires_at)
      VALUES (${"orgId"}, ${"email"}, ${"role"}, ${"endedAt"}, ${"rules"}, ${"groups"}, ${databaseTime} + ${"lifetime"})
      ON CONFLICT (org_id, email) DO UPDATE SET role = excluded.role, ended_at = excluded.ended_at,
        rules = excluded.rules, groups = excluded.groups, expires_at = excluded.expires_at`,

    forget: write`DELETE FROM scim_endings WHERE org_id = ${"orgId"} AND email = ${"email"}`,

    /** Lets a membership count that its person has not accepted yet: the directory speaks for the domain. */
    accept: write`
      UPDATE members SET accepted_at = ${"now"}
      WHERE org_id = ${"orgId"} AND user_id = ${"userId"} AND removed_at IS NULL AND accepted_at IS NULL`,

    /** Brings a rule back that ended with the membership, unless it would have ended since, or a request gave it. */
    restoreRule: returning(IdRow)`
      UPDATE acl_rules SET removed_at = NULL
      WHERE id = ${"id"} AND org_id = ${"orgId"} AND subject_id = ${"userId"} AND removed_at = ${"endedAt"}
        AND request_id IS NULL AND (expires_at IS NULL OR expires_at > ${databaseTime})
      RETURNING id`,

    /** Puts a member back into a group that people manage, unless it was removed or is full. */
    rejoin: returning(Schema.Struct({ group_id: Schema.String }))`
      INSERT INTO group_members (user_id, org_id, group_id, added_by, created_at)
      SELECT ${"userId"}, g.org_id, g.id, ${"by"}, ${"now"} FROM groups g
      WHERE g.id = ${"groupId"} AND g.org_id = ${"orgId"} AND g.removed_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM scim_groups sg WHERE sg.id = g.id)
        AND NOT EXISTS (SELECT 1 FROM group_members gm WHERE gm.group_id = g.id AND gm.user_id = ${"userId"})
        AND (SELECT count(*) FROM group_members gm WHERE gm.group_id = g.id) < ${"max"}
      RETURNING group_id`,

    /** Puts a member into all groups in which the directory has listed the person. */
    joinListed: write`
      INSERT INTO group_members (user_id, org_id, group_id, added_by, created_at)
      SELECT ${"userId"}, sg.org_id, sg.id, ${"by"}, ${"now"} FROM scim_users s
      JOIN scim_group_members sm ON sm.scim_user_id = s.id JOIN scim_groups sg ON sg.id = sm.group_id
      WHERE s.org_id = ${"orgId"} AND s.email = ${"email"}
        AND NOT EXISTS (SELECT 1 FROM group_members gm WHERE gm.group_id = sg.id AND gm.user_id = ${"userId"})`
  } as const
})
