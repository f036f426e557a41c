/** Written by scripts/migrations.mjs from the folder migrations. */
import type { Migration } from "./Migration.js"
import { auditLogs } from "./migrations/0027_audit_logs.js"
import { auditRuns } from "./migrations/0028_audit_runs.js"
import { environmentPositions } from "./migrations/0029_environment_positions.js"
import { sessionOrigins } from "./migrations/0030_session_origins.js"
import { rulesThatEnd } from "./migrations/0031_rules_that_end.js"
import { groups } from "./migrations/0032_groups.js"
import { delegations } from "./migrations/0033_delegations.js"
import { delegationTimes } from "./migrations/0034_delegation_times.js"
import { requests } from "./migrations/0035_requests.js"
import { loginGroups } from "./migrations/0036_login_groups.js"
import { passkeys } from "./migrations/0037_passkeys.js"
import { revisionNotes } from "./migrations/0038_revision_notes.js"
import { previews } from "./migrations/0039_previews.js"
import { archives } from "./migrations/0040_archives.js"
import { accountNetworks } from "./migrations/0041_account_networks.js"
import { webhookFormats } from "./migrations/0042_webhook_formats.js"
import { databaseFence } from "./migrations/0043_database_fence.js"
import { freedNames } from "./migrations/0044_freed_names.js"
import { requestNames } from "./migrations/0045_request_names.js"
import { trash } from "./migrations/0046_trash.js"
import { voteComments } from "./migrations/0047_vote_comments.js"
import { importSteps } from "./migrations/0048_import_steps.js"
import { acceptedMembers } from "./migrations/0049_accepted_members.js"
import { packedPostings } from "./migrations/0050_packed_postings.js"
import { auditArchives } from "./migrations/0051_audit_archives.js"
import { providerGroups } from "./migrations/0052_provider_groups.js"
import { waitingRequests } from "./migrations/0053_waiting_requests.js"
import { delegationEnvironments } from "./migrations/0054_delegation_environments.js"
import { connections } from "./migrations/0055_connections.js"
import { consents } from "./migrations/0056_consents.js"
import { targets } from "./migrations/0057_targets.js"
import { rotations } from "./migrations/0058_rotations.js"
import { scim } from "./migrations/0059_scim.js"
import { leases } from "./migrations/0060_leases.js"
import { automaticPushes } from "./migrations/0061_automatic_pushes.js"
import { keyRules } from "./migrations/0062_key_rules.js"
import { targetDrift } from "./migrations/0063_target_drift.js"
import { renewalNotices } from "./migrations/0064_renewal_notices.js"
import { unusedAccessMails } from "./migrations/0065_unused_access_mails.js"
import { turnDues } from "./migrations/0066_turn_dues.js"

/**
 * The migrations of both engines, in order, after those that each engine has in a folder of its own. Their files have SQLite's
 * numbers.
 */
export const laterMigrations: ReadonlyArray<Migration> = [
  auditLogs,
  auditRuns,
  environmentPositions,
  sessionOrigins,
  rulesThatEnd,
  groups,
  delegations,
  delegationTimes,
  requests,
  loginGroups,
  passkeys,
  revisionNotes,
  previews,
  archives,
  accountNetworks,
  webhookFormats,
  databaseFence,
  freedNames,
  requestNames,
  trash,
  voteComments,
  importSteps,
  acceptedMembers,
  packedPostings,
  auditArchives,
  providerGroups,
  waitingRequests,
  delegationEnvironments,
  connections,
  consents,
  targets,
  rotations,
  scim,
  leases,
  automaticPushes,
  keyRules,
  targetDrift,
  renewalNotices,
  unusedAccessMails,
  turnDues
]
