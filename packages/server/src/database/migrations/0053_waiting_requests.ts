import type { Migration } from "../Migration.js"

/** The requests of an organization that wait, apart from its history: the end of a membership ends the votes for them. */
export const waitingRequests: Migration = {
  name: "waiting_requests",
  statements: ["CREATE INDEX requests_waiting ON requests (org_id, id) WHERE state = 'pending'"]
}
