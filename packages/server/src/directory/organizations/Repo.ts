import { OrgId, type UserId } from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { OrgName } from "@coffer/domain/base/Names"
import { passkeyRecoveries, unusedAccessMails } from "@coffer/domain/directory/Organization"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { query, sql } from "../../database/Query.js"

const OrganizationRow = Schema.Struct({
  id: OrgId,
  name: OrgName,
  role: Schema.NullOr(Role),
  is_invited: Schema.Number,
  passkey_recovery: Schema.Literal(...passkeyRecoveries),
  unused_access_mail: Schema.Literal(...unusedAccessMails),
  created_at: Schema.String,
  updated_at: Schema.String
})

const StampRow = Schema.Struct({ created_at: Schema.String })

const columns = sql`
  o.id AS id, o.name AS name, m.role AS role,
  CASE WHEN m.id IS NOT NULL AND m.accepted_at IS NULL THEN 1 ELSE 0 END AS is_invited, o.passkey_recovery AS passkey_recovery,
  o.unused_access_mail AS unused_access_mail, o.created_at AS created_at, o.updated_at AS updated_at`

export type OrganizationRow = typeof OrganizationRow.Type

export const organizationsRepo = Effect.gen(function* () {
  const { all, first, returning, write } = yield* query
  const pages = yield* allPages

  const page = all(OrganizationRow)`
    SELECT ${columns} FROM organizations o
    LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ${"actorId"} AND m.removed_at IS NULL
    WHERE o.removed_at IS NULL AND o.name > ${"after"} ORDER BY o.name LIMIT ${"limit"}`

  const pageOfMember = all(OrganizationRow)`
    SELECT ${columns} FROM members m JOIN organizations o ON o.id = m.org_id AND o.removed_at IS NULL
    WHERE m.user_id = ${"userId"} AND m.removed_at IS NULL AND o.name > ${"after"} ORDER BY o.name LIMIT ${"limit"}`

  return {
    all: (actorId: UserId) =>
      pages(
        "",
        (after, limit) => page({ actorId, after, limit }),
        ({ name }): string => name
      ),

    ofMember: (userId: UserId) =>
      pages(
        "",
        (after, limit) => pageOfMember({ userId, after, limit }),
        ({ name }): string => name
      ),

    find: first(OrganizationRow)`
      SELECT ${columns} FROM organizations o
      LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ${"actorId"} AND m.removed_at IS NULL
      WHERE o.id = ${"id"} AND o.removed_at IS NULL`,

    insert: write`
      INSERT INTO organizations (id, name, created_at, updated_at)
      VALUES (${"id"}, ${"name"}, ${"now"}, ${"now"})`,

    update: returning(StampRow)`
      UPDATE organizations SET name = ${"name"}, passkey_recovery = ${"recovery"}, unused_access_mail = ${"unusedMail"},
        updated_at = ${"now"}, revision = revision + 1
      WHERE id = ${"id"} AND removed_at IS NULL RETURNING created_at`,

    remove: returning(StampRow)`
      UPDATE organizations SET removed_at = ${"now"}, revision = revision + 1
      WHERE id = ${"id"} AND removed_at IS NULL RETURNING created_at`,

    insertOwner: write`
      INSERT INTO members (id, org_id, user_id, role, created_at, updated_at, accepted_at)
      VALUES (${"id"}, ${"orgId"}, ${"userId"}, 'owner', ${"now"}, ${"now"}, ${"now"})`
  } as const
})
