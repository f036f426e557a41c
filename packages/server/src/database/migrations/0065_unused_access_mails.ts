import type { Migration } from "../Migration.js"

/** Mails to owners about unused access. The months, such as `2027-01`, are those of the last mails. */
export const unusedAccessMails: Migration = {
  name: "unused_access_mails",
  statements: [
    "ALTER TABLE organizations ADD COLUMN unused_access_mail TEXT NOT NULL DEFAULT 'never' CHECK (unused_access_mail IN ('never', 'monthly'))",
    "ALTER TABLE organizations ADD COLUMN unused_access_month TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE members ADD COLUMN unused_access_month TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX organizations_by_unused_access ON organizations (id) WHERE unused_access_mail = 'monthly'"
  ]
}
