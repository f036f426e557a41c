import { limits } from "./Limits.js"

// Others wait for the transaction of a change: on SQLite everybody, on PostgreSQL their organization. So a caller who chooses how
// many rows one has would choose how long they wait.

/** The rows of a transaction that no caller chooses: those of the change itself, and entries of the audit log. */
export const fewRows = 100

/** The most rows of a transaction of the search index of the audit logs, which follows changes in batches. */
export const indexRows = 2_500

const project = "/api/orgs/:org_name/projects/:project_name"
const ofSecrets = 5 * limits.secrets + fewRows

/**
 * The calls whose transactions grow with what a caller chooses, and the most rows that one changes: what a limit of the contract
 * allows. All other calls change at most `fewRows` in a transaction. A vote makes the change that was asked for.
 */
export const manyRows: Readonly<Record<string, number>> = {
  // A session, and its entry in the log.
  "DELETE /api/auth/sessions": 2 * 10_000 + 4 * fewRows,
  // A secret, its version, its change, its place in the changes since, and what it replaces.
  [`PATCH ${project}/envs/:env_name/bundle`]: ofSecrets,
  [`POST ${project}/envs`]: ofSecrets,
  [`POST ${project}/envs/:env_name/copy`]: ofSecrets,
  [`POST ${project}/envs/:env_name/revert`]: ofSecrets,
  [`POST ${project}/envs/:env_name/secrets/:key/destroy`]: 2 * 1_000 + fewRows,
  "DELETE /api/orgs/:org_name/members/:user_id": limits.rulesOfOne + fewRows,
  "DELETE /api/orgs/:org_name/members/me": limits.rulesOfOne + fewRows,
  "DELETE /api/orgs/:org_name/service-accounts/:sa_id": limits.rulesOfOne + fewRows,
  "PUT /api/orgs/:org_name/groups/:group_name/members": 2 * 2_000 + fewRows,
  // Imports are written in steps of 200 records, however large their organization is.
  "PUT /api/imports/:import_id/declared": 200 + fewRows,
  "PUT /api/imports/:import_id/secrets": 4 * 200 + fewRows,
  "POST /api/imports": 4 * 200 + fewRows,
  "POST /api/imports/:import_id/finish": 4 * 200 + fewRows
}
