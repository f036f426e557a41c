import type { OrgId, UserId } from "@coffer/domain/base/Ids"
import { Email, GroupName } from "@coffer/domain/base/Names"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { AuditLog } from "../audit/AuditLog.js"
import { now } from "../base/Time.js"
import { Database, Transaction } from "../database/Database.js"
import { query } from "../database/Query.js"
import { unlessLocked } from "../database/UnlessLocked.js"
import { type Brought, loginGroupsEvent, loginGroupsSource } from "./LoginGroupsEvent.js"
import { unendedLogin } from "./place/PlaceRow.js"

const EmailRow = Schema.Struct({ email: Schema.typeSchema(Email) })
const GroupRow = Schema.Struct({ name: GroupName, expires_at: Schema.Number })

/** A membership that its person has not accepted yet. */
export interface InvitedPerson {
  readonly membership: string
  readonly orgId: OrgId
  readonly userId: UserId
}

/**
 * Records that people accept their memberships, by their first call in an organization that is not refused. A call that changes
 * something does it in its transaction; one that only reads succeeds also if this fails, and the next call accepts.
 */
export const makeAcceptances = Effect.gen(function* () {
  const { all, returning } = yield* query
  const { transaction } = yield* Database
  const audit = yield* AuditLog
  const unlocked = yield* unlessLocked

  // By its id: a removal and another invitation may come first. A login that brings groups meanwhile holds the row.
  const accept = returning(EmailRow)`
    UPDATE members SET accepted_at = ${"now"} WHERE id = (
      SELECT id FROM members WHERE id = ${"membership"} AND accepted_at IS NULL AND removed_at IS NULL ${unlocked})
    RETURNING (SELECT email FROM users WHERE id = user_id) AS email`

  /**
   * The groups that earlier logins brought, of which the organization was not told. Also those that the last login did not bring, if
   * its steps have not come to the organization yet: such a step records what changed since these rows.
   */
  const brought = all(GroupRow)`
    SELECT (SELECT g.name FROM groups g WHERE g.id = gx.group_id) AS name, max(lg.expires_at) AS expires_at
    FROM login_groups lg CROSS JOIN group_mappings gx
    WHERE lg.user_id = ${"userId"} AND lg.org_id = ${"orgId"} AND ${unendedLogin}
      AND gx.org_id = lg.org_id AND gx.provider_group = lg.provider_group
    GROUP BY gx.group_id ORDER BY name`

  const record = Effect.fnUntraced(function* ({ membership, orgId, userId }: InvitedPerson) {
    const [accepted] = yield* accept({ membership, now: yield* now })
    if (accepted === undefined) return
    const groups = yield* brought({ userId, orgId })
    if (groups.length === 0) return
    const person: Brought = { id: userId, email: accepted.email, orgId }
    const expiresAt = Math.max(...groups.map(({ expires_at }) => expires_at))
    yield* audit.change(
      loginGroupsSource(person),
      loginGroupsEvent(person, { added: groups.map(({ name }) => name), removed: [], expiresAt })
    )
  })

  return (invited: InvitedPerson): Effect.Effect<void> =>
    Effect.contextWithEffect((context: Context.Context<never>) =>
      Option.match(Context.getOption(context, Transaction), {
        onSome: (open) => Effect.provideService(record(invited), Transaction, open),
        onNone: () =>
          Effect.catchAllCause(transaction(record(invited)), (cause) =>
            Effect.logWarning("an accepted membership was not recorded", cause)
          )
      })
    )
})
