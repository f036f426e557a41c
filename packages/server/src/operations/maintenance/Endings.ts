import * as Effect from "effect/Effect"
import { codePurge, failurePurge, idleSessionPurge, sessionPurge } from "../../access/caller/credentials/Repo.js"
import { freedNamePurge } from "../../access/place/FreedNames.js"
import { rateEventPurge } from "../../database/limits/RateLimits.js"
import { ruleExpiry } from "../../directory/acl/RuleExpiry.js"
import { delegationPurge } from "../../directory/delegations/Repo.js"
import { exportPurge } from "../../directory/exports/Repo.js"
import { federatedSessionPurge } from "../../directory/federations/Repo.js"
import { groupLoginCompletion } from "../../directory/groups/LoginGroups.js"
import { loginGroupPurge, providerGroupPurge } from "../../directory/groups/LoginRepo.js"
import { clientLoginPurge } from "../../directory/login/ClientLoginsRepo.js"
import { departurePurge } from "../../directory/members/Departures.js"
import { challengePurge } from "../../directory/passkeys/Repo.js"
import { requestExpiry } from "../../directory/requests/RequestExpiry.js"
import { scimEndingPurge } from "../../directory/scim/PeopleRepo.js"
import { scimTokenPurge } from "../../directory/scim/Repo.js"
import { keyNotice } from "../../directory/service-accounts/KeyExpiry.js"
import { keySessionPurge } from "../../edges/vault/Repo.js"
import { deliveryPurge } from "../../edges/webhooks/DeliveriesRepo.js"
import { importPurge } from "../../secrets/archives/ImportPurge.js"
import { environmentExpiry, environmentNotice } from "../../secrets/environments/EnvironmentExpiry.js"
import { approvalPurge } from "../../secrets/use-rules/Repo.js"

/** Things whose end, or its announcement, is an entry of the audit log, in the order of maintenance. */
export const expiries = Effect.all([keyNotice, ruleExpiry, requestExpiry, environmentNotice, environmentExpiry])

/** Rows that are deleted after their end, in the order of maintenance. */
export const purges = Effect.all([
  sessionPurge,
  idleSessionPurge,
  federatedSessionPurge,
  keySessionPurge,
  delegationPurge,
  departurePurge,
  // First, because it compares the rows that the purges delete.
  groupLoginCompletion,
  loginGroupPurge,
  providerGroupPurge,
  freedNamePurge,
  exportPurge,
  importPurge,
  challengePurge,
  codePurge,
  failurePurge,
  rateEventPurge,
  clientLoginPurge,
  approvalPurge,
  scimTokenPurge,
  scimEndingPurge,
  deliveryPurge
])
