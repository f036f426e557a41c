import { OrgId, SecretId, UserId } from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { Email, EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../../database/Query.js"
import { acceptedMember, groupRulesOf, liveEnv, rulesWhere } from "../../access/place/PlaceRow.js"
import { idRow } from "../../database/Rows.js"

/** A due date with its secret. Null if the secret or its place was removed. */
const DueRow = Schema.Struct({
  id: SecretId,
  org_id: OrgId,
  org: Schema.NullOr(OrgName),
  project: Schema.NullOr(ProjectName),
  env: Schema.NullOr(EnvName),
  key: Schema.NullOr(SecretKey),
  version: Schema.NullOr(Schema.Number),
  owner: Schema.NullOr(Schema.typeSchema(Email)),
  /** When a person has to see to it; null if only its rotation has to. */
  own_at: Schema.NullOr(Schema.String),
  due_at: Schema.String,
  event_at: Schema.NullOr(Schema.String)
})
export type DueRow = typeof DueRow.Type

const OwnerRow = Schema.Struct({
  owner: Schema.typeSchema(Email),
  /** Null if the owner is no user who can log in. */
  user_id: Schema.NullOr(UserId),
  mailed_at: Schema.NullOr(Schema.String)
})

const RightsRow = Schema.Struct({
  role: Role,
  rules: Schema.String,
  group_rules: Schema.String
})

const found = sql`
  SELECT d.secret_id AS id, d.org_id AS org_id, o.name AS org, p.name AS project, e.name AS env, s.key AS key,
    s.version AS version, d.owner AS owner, d.due_at AS due_at,
    CASE WHEN d.turn_at IS NULL THEN d.due_at ELSE d.expires_at END AS own_at, d.event_at AS event_at`

const places = sql`
  LEFT JOIN secrets s ON s.id = d.secret_id AND s.removed_at IS NULL
  LEFT JOIN environments e ON e.id = s.env_id AND ${liveEnv}
  LEFT JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL
  LEFT JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL`

/** The statements of the job: each reads a bounded number of rows, also of what was removed. */
export const dueJobRepo = Effect.map(
  query,
  ({ all, first, returning, write }) =>
    ({
      /** The due dates about which an entry is to be made. */
      events: all(DueRow)`
        ${found} FROM (
          SELECT * FROM secret_dues WHERE event_at <= ${"until"} AND (event_at, secret_id) > (${"after"}, ${"id"})
          ORDER BY event_at, secret_id LIMIT ${"limit"}) d ${places} ORDER BY d.event_at, d.secret_id`,

      /** Notes that an entry is made. Returns no row if the due date has moved meanwhile. */
      note: returning(idRow(SecretId))`
        UPDATE secret_dues SET event_at = ${"next"} WHERE secret_id = ${"id"} AND event_at = ${"before"}
        RETURNING secret_id AS id`,

      /** The due dates until a time. */
      due: all(DueRow)`
        ${found} FROM (
          SELECT * FROM secret_dues WHERE due_at <= ${"until"} AND (due_at, secret_id) > (${"after"}, ${"id"})
          ORDER BY due_at, secret_id LIMIT ${"limit"}) d ${places} ORDER BY d.due_at, d.secret_id`,

      /** The due dates of an owner until a time. */
      ofOwner: all(DueRow)`
        ${found} FROM (
          SELECT * FROM secret_dues WHERE owner = ${"owner"} AND due_at <= ${"until"}
            AND (due_at, secret_id) > (${"after"}, ${"id"})
          ORDER BY due_at, secret_id LIMIT ${"limit"}) d ${places} ORDER BY d.due_at, d.secret_id`,

      /** The owners of secrets that are due until a time, and when they were mailed. */
      owners: all(OwnerRow)`
        SELECT d.owner AS owner, u.id AS user_id, m.mailed_at AS mailed_at FROM (
          SELECT DISTINCT owner FROM secret_dues WHERE owner > ${"after"} AND due_at <= ${"until"}
          ORDER BY owner LIMIT ${"limit"}) d
        LEFT JOIN users u ON u.email = d.owner AND u.disabled_at IS NULL
        LEFT JOIN due_mails m ON m.user_id = u.id ORDER BY d.owner`,

      /** The role of a member who has accepted, with the rules of the member and of the member's groups. */
      rights: first(RightsRow)`
        SELECT m.role AS role, ${rulesWhere(sql`r.subject_id = m.user_id AND r.org_id = m.org_id`)} AS rules,
          ${groupRulesOf(sql`m.user_id`, sql`m.org_id`)} AS group_rules
        FROM members m
        WHERE m.org_id = ${"orgId"} AND m.user_id = ${"userId"} AND ${acceptedMember}`,

      mailed: write`
        INSERT INTO due_mails (user_id, mailed_at) VALUES (${"userId"}, ${"now"})
        ON CONFLICT (user_id) DO UPDATE SET mailed_at = excluded.mailed_at`,

      /** Forgets a mail that was not sent, unless another one was noted since. */
      notMailed: write`DELETE FROM due_mails WHERE user_id = ${"userId"} AND mailed_at = ${"now"}`
    }) as const
)
