import { fields, isWithin } from "./Fields.js"

/**
 * The archive field that carries each column of the tables of organizations, or the reason why none does. A column travels in the
 * field of its own name of its table's record; those that do not are listed.
 */

/** A column that travels, by the path of the field of an archive that holds it. */
const travels = (field: string, how?: string) => ({ field, how })
/** A column that stays behind. */
const stays = (reason: string) => ({ reason })

const id = stays("ids are new: names stand for them")
const made = stays("an import makes the record, at its time and by its importer")
const live = stays("what was removed stays behind")
const used = stays("says how it was used on the server that it leaves")
const place = stays("says in which record it is, by the place in the archive")

export type Column = ReturnType<typeof travels> | ReturnType<typeof stays>

/** The records of archives that hold the columns of a table, by their paths. */
const records: Readonly<Record<string, string>> = {
  organizations: "",
  members: "members",
  groups: "groups",
  group_mappings: "mappings",
  projects: "projects",
  environments: "projects.environments",
  previews: "projects.previews",
  protections: "projects.environments.protection",
  service_accounts: "accounts",
  federations: "accounts.federations",
  acl_rules: "rules",
  webhooks: "webhooks",
  declared_keys: "declared",
  secrets: "versions",
  secret_versions: "versions",
  secret_changes: "versions",
  revision_notes: "versions",
  secret_dues: "versions.current",
  use_rules: "versions.current.use_rules"
}

export const columns: Readonly<Record<string, Readonly<Record<string, Column>>>> = {
  organizations: {
    id,
    name: travels("manifest.organization"),
    revision: stays("counts changes of rights on the server that it leaves"),
    unused_access_month: used,
    created_at: made,
    updated_at: made,
    removed_at: live
  },
  members: {
    ...{ id, org_id: id, created_at: made, updated_at: made, removed_at: live },
    user_id: travels("members.email"),
    unused_access_month: used,
    accepted_at: stays("an archive is its importer's word: each person accepts on the new server")
  },
  groups: {
    ...{ id, org_id: id, created_by: made, created_at: made, updated_at: made, removed_at: live }
  },
  group_members: {
    ...{ org_id: id, added_by: made, created_at: made },
    user_id: travels("groups.members"),
    group_id: place
  },
  group_mappings: {
    org_id: id,
    group_id: travels("mappings.group")
  },
  projects: {
    ...{ id, org_id: id, created_at: made, updated_at: made, removed_at: live },
    revision: stays("counts changes of declared keys on the server that it leaves")
  },
  environments: {
    ...{ id, project_id: place, created_at: made, updated_at: made, removed_at: live },
    revision: travels("versions.revision", "it goes on after the greatest"),
    secret_count: stays("is counted again"),
    value_bytes: stays("is counted again"),
    due_revision: stays("counts changes of due dates on the server that it leaves"),
    position: travels("projects.order"),
    protected: travels("projects.environments.protection"),
    announced_end: stays("the new server announces the end itself"),
    source_id: travels("projects.environments.from")
  },
  previews: {
    ...{ project_id: place, updated_by: made, updated_at: made },
    source_id: travels("projects.previews.from")
  },
  protections: {
    ...{ env_id: place, org_id: id, removed_at: live, updated_by: made, updated_at: made },
    version: stays("counts changes on the server that it leaves, for requests that stay there")
  },
  service_accounts: {
    ...{ id, org_id: id, created_by: made, created_at: made, updated_at: made, removed_at: live, last_used_at: used },
    project_id: travels("accounts.project")
  },
  federations: {
    ...{ id, org_id: id, created_by: made, created_at: made, removed_at: live, last_used_at: used },
    service_account_id: place,
    audience: stays("names the address of the server: a new one has its own")
  },
  federation_keys: {
    federation_id: place,
    position: travels("accounts.federations.jwks", "the order of its keys"),
    kid: travels("accounts.federations.jwks", "`kid` of a key"),
    alg: travels("accounts.federations.jwks", "follows from a key, and `none` says that it is for something else"),
    jwk: travels("accounts.federations.jwks")
  },
  acl_rules: {
    ...{ id, org_id: id, created_by: made, created_at: made, updated_at: made, removed_at: live },
    subject_id: travels("rules.subject"),
    denies: travels("rules.denies"),
    request_id: stays("rules of requests stay with them")
  },
  webhooks: {
    ...{ id, org_id: id, created_by: made, created_at: made, updated_at: made, removed_at: live, failed_at: used },
    enabled: travels("webhooks.enabled", "an import does not take it over: the receiver lacks the new key"),
    seq: stays("a place in the log of the server that it leaves"),
    key_number: stays("signing keys are new"),
    old_key_until: stays("signing keys are new")
  },
  declared_keys: {
    ...{ project_id: place, updated_by: made, updated_at: made }
  },
  secrets: {
    ...{ id, env_id: place, removed_at: live, removed_revision: live },
    version: travels("versions.version", "of the one with `current`"),
    created_at: travels("versions.created_at", "of the first"),
    updated_at: travels("versions.created_at", "of the last")
  },
  secret_versions: {
    secret_id: place,
    format: travels("versions.kind"),
    kek_id: stays("is of the server's key"),
    wrapped_key: stays("is of the server's key"),
    ciphertext: travels("versions.value"),
    value_bytes: stays("is counted again")
  },
  secret_changes: {
    ...{ env_id: place, secret_id: id },
    revision: travels("versions.revision", "removals stay behind with what was removed"),
    change: stays("follows from the version")
  },
  secret_changes_since: { env_id: place, revision: stays("the history is whole from the import on") },
  revision_notes: { env_id: place, revision: travels("versions.revision"), note: travels("versions.note") },
  secret_references: {
    ...{ secret_id: place, version: place, env_id: place, project_id: place },
    target_env: travels("versions.value", "it is parsed again"),
    target_key: travels("versions.value", "it is parsed again")
  },
  secret_dues: {
    ...{ secret_id: place, org_id: id, env_id: place },
    ...{ rotation_id: stays("rotations stay"), turn_at: stays("rotations stay") },
    due_at: stays("follows from the others"),
    event_at: stays("follows from the others")
  },
  use_rules: {
    ...{ id, secret_id: place, created_by: made, created_at: made, updated_at: made, removed_at: live },
    terms: travels("versions.current.use_rules"),
    ...{ minute_at: used, minute_count: used, day_at: used, day_count: used }
  },
  use_rule_accounts: {
    ...{ rule_id: place, org_id: id },
    position: travels("versions.current.use_rules.accounts", "their order"),
    subject_id: travels("versions.current.use_rules.accounts")
  }
}

const credential = "is a credential, which no archive holds"
const moment = "belongs to a moment on the server that it leaves"
const server = "is of the server, and of no organization"
const log = "the log stays where it was written"

/** The tables of which an archive has nothing. */
export const without: Readonly<Record<string, string>> = {
  api_keys: credential,
  delegations: credential,
  delegation_environments: credential,
  consents: credential,
  federated_sessions: credential,
  key_sessions: credential,
  client_logins: credential,
  identities: credential,
  login_codes: credential,
  passkeys: credential,
  passkey_challenges: credential,
  sessions: credential,
  wrapped_keys: credential,
  approvals: moment,
  exports: moment,
  freed_names: "holds names back for those who had them on the server that it leaves",
  imports: moment,
  import_use_people: moment,
  login_groups: "a login brings them",
  provider_groups: "a login brings them",
  group_logins: moment,
  connections: "reach a network that another server may not have, with rights that its operator gives",
  scim_tokens: credential,
  scim_users: "are known by the ids of a directory, which lists them on the new server again",
  scim_groups: "are the directory's, which makes them on the new server again",
  scim_group_members: "are whom the directory lists",
  scim_endings: moment,
  rotations: "renew by a connection, which stays",
  lease_roles: "make users by a connection, which stays",
  leases: "are users of a database that the server which made them removes",
  requests: "names ids, votes and sealed bodies of the server that it leaves",
  request_parts: "belongs to a request",
  request_votes: "belongs to a request",
  targets: "leads to a platform with a credential: the new server is told where its values go",
  target_keys: "says what the server that it leaves wrote",
  target_sources: "says what the server that it leaves pushed",
  webhook_deliveries: moment,
  audit_actors: log,
  audit_archives: log,
  audit_entries: log,
  audit_heads: log,
  audit_indexed: log,
  audit_logs: log,
  audit_place_counters: log,
  audit_place_keys: log,
  audit_places: log,
  audit_postings: log,
  audit_starts: log,
  audit_times: log,
  database_fence: server,
  drills: server,
  due_mails: server,
  // The same, on PostgreSQL.
  schema_migrations: server,
  effect_sql_migrations: server,
  erasures: server,
  instance: server,
  instances: server,
  jobs: server,
  login_failures: server,
  rate_events: server,
  restores: server,
  schema_info: server,
  stream_places: server,
  trash: "what was removed stays behind",
  users: "members name people by their addresses; what else a person has belongs to the server",
  wrap_counts: server
}

/** Returns what becomes of a column; undefined if nothing says so. */
export const columnOf = (table: string, column: string): Column | undefined => {
  const listed = columns[table]?.[column]
  const record = records[table]
  if (listed !== undefined || record === undefined) return listed
  const path = record === "" ? column : `${record}.${column}`
  return fields.some((field) => isWithin(field, path)) ? travels(path) : undefined
}
