/** Why nothing fills a table, or a column as `TABLE.COLUMN`, of what is recorded of a release. */
export const empty: Readonly<Record<string, string>> = {
  audit_archives: "the filling archives no entries",
  connections: "no release had them",
  consents: "no release had them",
  rotations: "no release had them",
  scim_tokens: "no release had them",
  scim_users: "no release had them",
  scim_groups: "no release had them",
  scim_group_members: "no release had them",
  scim_endings: "no release had them",
  lease_roles: "no release had them",
  leases: "no release had them",
  audit_starts: "no entries left for an archive",
  delegation_environments: "a further environment of a delegation is optional",
  freed_names: "names of protected places that changed, which the filling does not change",
  "request_votes.comment": "a comment is optional",
  group_logins: "logins that were cut off between their steps",
  instances: "servers on PostgreSQL alone, which have ended",
  jobs: "servers on PostgreSQL alone",
  "requests.key_id": "no server writes it",
  restores: "a database that was restored",
  stream_places: "servers on PostgreSQL alone",
  targets: "a platform to push to is optional",
  target_keys: "what was pushed there",
  target_sources: "which environments were pushed there",
  "webhook_deliveries.next_at": "a delivery that waits would be tried when a later release is tested",
  "webhook_deliveries.reason": "a delivery that failed is tried again until its webhook has failed",
  "webhooks.failed_at": "a day of failures"
}

/** The same on PostgreSQL alone. */
export const emptyOnPostgres: typeof empty = {
  erasures: "values that are destroyed are erased within seconds"
}
