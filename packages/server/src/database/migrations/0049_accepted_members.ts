import type { Migration } from "../Migration.js"

/**
 * When a person accepted a membership, by a first act in the organization. Until then, it binds them to nothing. An older database
 * does not say: a membership counts as accepted if its person has an entry in the organization's log since, which is no refusal, no
 * login, and no act as a superadmin. Lists of names leave no entry: whoever has read nothing else accepts by the next call.
 */
export const acceptedMembers: Migration = {
  name: "accepted_members",
  statements: [
    "ALTER TABLE members ADD COLUMN accepted_at TEXT",
    `UPDATE members SET accepted_at = created_at
    WHERE EXISTS (
      SELECT 1 FROM audit_entries a
      WHERE a.log = members.org_id AND a.actor_id = members.user_id AND a.created_at >= members.created_at
        AND a.action NOT IN ('access.denied', 'group.login') AND a.metadata NOT LIKE '%"via":"superadmin"%')`
  ]
}
