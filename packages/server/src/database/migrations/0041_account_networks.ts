import type { Migration } from "../Migration.js"

/**
 * The networks that a service account may call from, as a JSON list; null: any. An older server would take its key from everywhere.
 */
export const accountNetworks: Migration = {
  name: "account_networks",
  raisesMinReader: true,
  statements: ["ALTER TABLE service_accounts ADD COLUMN allowed_networks TEXT"]
}
