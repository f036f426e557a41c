import type { Migration } from "../Migration.js"

/** The form of a webhook's deliveries. Older servers send their own form to all; a chat refuses that, and the try is repeated. */
export const webhookFormats: Migration = {
  name: "webhook_formats",
  statements: ["ALTER TABLE webhooks ADD COLUMN format TEXT NOT NULL DEFAULT 'coffer'"]
}
