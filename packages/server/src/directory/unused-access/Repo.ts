import { OrgId, UserId } from "@coffer/domain/base/Ids"
import { Email, OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { acceptedMember } from "../../access/place/PlaceRow.js"
import { query, sql } from "../../database/Query.js"
import { IdRow } from "../../database/Rows.js"

const OrgRow = Schema.Struct({ id: OrgId, name: OrgName })
export type OrgRow = typeof OrgRow.Type

const OwnerRow = Schema.Struct({ id: UserId, email: Schema.typeSchema(Email) })
export type OwnerRow = typeof OwnerRow.Type

/** An organization that wants a mail, and had none in this month or later. */
const waits = sql`
  o.unused_access_mail = 'monthly' AND o.unused_access_month < ${"month"} AND o.removed_at IS NULL`

/** The owners of such an organization who had none. */
const owners = sql`
  SELECT m.id FROM organizations o JOIN members m ON m.org_id = o.id
  JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
  WHERE o.id = ${"orgId"} AND ${waits} AND m.role = 'owner' AND ${acceptedMember}
    AND m.unused_access_month < ${"month"}`

/** The statements of the mails about unused access. */
export const unusedAccessRepo = Effect.map(
  query,
  ({ all, first, returning, write }) =>
    ({
      waiting: all(OrgRow)`
        SELECT o.id AS id, o.name AS name FROM organizations o
        WHERE o.id > ${"after"} AND ${waits} ORDER BY o.id LIMIT ${"limit"}`,

      /** An owner who waits for a mail, if there is one. */
      anyOwner: first(IdRow)`${owners} LIMIT 1`,

      /** Notes the mails to some owners who wait for them. */
      noteOwners: returning(OwnerRow)`
        UPDATE members SET unused_access_month = ${"month"}
        WHERE id IN (${owners} ORDER BY m.user_id LIMIT ${"limit"})
        RETURNING user_id AS id, (SELECT u.email FROM users u WHERE u.id = user_id) AS email`,

      /** Notes that an organization is done with a month, unless it wants no mail any more. */
      noteOrganization: write`
        UPDATE organizations SET unused_access_month = ${"month"}
        WHERE id = ${"orgId"} AND removed_at IS NULL AND unused_access_mail = 'monthly'`,

      /** Forgets the mail to an owner. */
      forgetOwner: write`
        UPDATE members SET unused_access_month = ''
        WHERE org_id = ${"orgId"} AND user_id = ${"userId"} AND unused_access_month = ${"month"}`,

      forgetOrganization: write`
        UPDATE organizations SET unused_access_month = ''
        WHERE id = ${"orgId"} AND unused_access_month = ${"month"}`
    }) as const
)
