import { endedAtOnce } from "@coffer/server/database/InSteps"
import { limits } from "./Limits.js"

// Others wait for the transaction of a change: on SQLite everybody, on PostgreSQL their organization. So a caller who chooses how
// many rows one has would choose how long they wait.

/** The rows of a transaction that no caller chooses: those of the change itself, and entries of the audit log. */
export const fewRows = 100

/**
 * The most rows of a transaction of the search index of the audit logs, which follows in batches of 2,000 entries: of each, six
 * postings, as many counters, a place and its key.
 */
export const indexRows = 14 * 2_000

const project = "/api/orgs/:org_name/projects/:project_name"
const ofSecrets = 5 * limits.secrets + fewRows

/**
 * The calls whose transactions grow with what a caller chooses, and the most rows that one changes: what a limit of the contract
 * allows. All other calls change at most `fewRows` in a transaction. A vote makes the change that was asked for.
 */
export const manyRows: Readonly<Record<string, number>> = {
  // A session, and its entry in the log, some at a time.
  "DELETE /api/auth/sessions": 2 * endedAtOnce + fewRows,
  // Sessions, and votes for requests that wait.
  "POST /api/users/:user_id/disable": 2 * endedAtOnce + fewRows,
  "POST /api/users/:user_id/enable": 2 * endedAtOnce + fewRows,
  "POST /api/users/:user_id/end-sessions": endedAtOnce + fewRows,
  // A secret, its version, its change, its place in the changes since, and what it replaces.
  [`PATCH ${project}/envs/:env_name/bundle`]: ofSecrets,
  [`POST ${project}/envs`]: ofSecrets,
  [`POST ${project}/envs/:env_name/copy`]: ofSecrets,
  [`POST ${project}/envs/:env_name/revert`]: ofSecrets,
  "POST /api/orgs/:org_name/requests/:request_id/approve": ofSecrets,
  [`POST ${project}/envs/:env_name/secrets/:key/destroy`]: 2 * 1_000 + fewRows,
  // Access rules and groups of one. Places in use rules, and votes for requests that wait, end some at a time.
  "DELETE /api/orgs/:org_name/members/:user_id": limits.rulesOfOne + limits.groups + 2 * endedAtOnce + fewRows,
  "DELETE /api/orgs/:org_name/members/me": limits.rulesOfOne + limits.groups + 2 * endedAtOnce + fewRows,
  "DELETE /api/orgs/:org_name/service-accounts/:sa_id": limits.rulesOfOne + endedAtOnce + fewRows,
  // Of a former membership, whose removal was cut off.
  "POST /api/orgs/:org_name/members": 2 * endedAtOnce + fewRows,
  // The members, rules and mappings of a group.
  "DELETE /api/orgs/:org_name/groups/:group_name": 2_000 + limits.rulesOfOne + 200 + fewRows,
  "PUT /api/orgs/:org_name/groups/:group_name/members": 2 * 2_000 + fewRows,
  // Values are erased in steps, which begin at once.
  "POST /api/trash/:removed_id/erase": 200 + fewRows,
  "POST /api/orgs/:org_name/trash/:removed_id/erase": 200 + fewRows,
  [`POST ${project}/trash/:removed_id/erase`]: 200 + fewRows,
  // 200 mappings go, and as many come.
  "PUT /api/orgs/:org_name/group-mappings": 2 * 200 + fewRows,
  // The largest change that was asked for is stored in parts of 64 KiB, which go with the request.
  "POST /api/orgs/:org_name/requests/:request_id/refuse": 16 * 16 + fewRows,
  "POST /api/orgs/:org_name/requests/:request_id/withdraw": 16 * 16 + fewRows,
  // Imports are written in steps of 200 records, however large their organization is.
  "PUT /api/imports/:import_id/declared": 200 + fewRows,
  "PUT /api/imports/:import_id/secrets": 4 * 200 + fewRows,
  "POST /api/imports": 4 * 200 + fewRows,
  "POST /api/imports/:import_id/finish": 4 * 200 + fewRows
}

/** The calls that no row gets through, and why that is enough. */
export const refused: Readonly<Record<string, string>> = {
  "POST /api/auth/federate": "a token that no issuer has signed: with a good one, it writes a session",
  "POST /api/auth/verify": "a wrong code: with the right one, it writes a session",
  "POST /api/auth/token": "an unknown code: with a good one, it writes a session",
  "POST /api/auth/passkeys": "no authenticator: with one, it writes a passkey",
  "POST /api/auth/passkeys/challenge": "no passkey: with one, it writes a challenge",
  "POST /api/auth/passkeys/verify": "no authenticator: with one, it writes the proof",
  "DELETE /api/auth/passkeys/:passkey_id": "no passkey: with one, it removes that",
  "DELETE /api/orgs/:org_name/members/me": "the last owner stays: for others, it is the removal of a member",
  "POST /api/orgs/:org_name/members": "the organization is full: in another one, it adds a member",
  "POST /api/orgs/:org_name/groups/:group_name/members": "the group is full: in another one, it adds a member",
  "POST /api/orgs/:org_name/requests": "who has every right asks for none: others write a request",
  "POST /api/orgs/:org_name/exports/:export_id/approve": "nobody else is there: a second owner changes the row",
  "POST /api/orgs/:org_name/approvals/:approval_id/approve": "nothing waits: a vote changes the row of the use",
  "POST /api/orgs/:org_name/approvals/:approval_id/refuse": "nothing waits: a vote changes the row of the use",
  [`POST ${project}/envs/:env_name/use`]: "no rule: with one, it writes two entries of the log",
  [`POST ${project}/envs/:env_name/targets/:target_name/plan`]:
    "its platform has no address: test/delivery plans and pushes to one that has",
  [`POST ${project}/envs/:env_name/targets/:target_name/push`]: "the same",
  [`POST ${project}/envs/:env_name/targets/:target_name/check`]: "the same",
  [`POST ${project}/envs/:env_name/roles/:role_name/leases`]:
    "its database has no address: test/leases makes users of one",
  [`POST ${project}/envs/:env_name/leases/:lease_id/renew`]: "the same",
  [`DELETE ${project}/envs/:env_name/leases/:lease_id`]: "the same",
  [`DELETE ${project}/envs/:env_name/connections/:connection_name/orphans/:lease_id`]: "the same",
  "POST /api/imports/:import_id/finish": "nothing arrived: test/archives/Archives.long.test.ts counts its transactions"
}
