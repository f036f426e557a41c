import { Permission } from "@coffer/domain/access/AclRule"
import { requestKinds, requestStates } from "@coffer/domain/requests/ApprovalRequest"
import {
  DelegationId,
  EnvId,
  OrgId,
  ProjectId,
  RequestId,
  RuleId,
  ServiceAccountId,
  UserId
} from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { Email, EnvName, OrgName, ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { idRow } from "../../database/Rows.js"

const RequestRow = Schema.Struct({
  id: RequestId,
  kind: Schema.Literal(...requestKinds),
  state: Schema.Literal(...requestStates),
  org_id: OrgId,
  project_id: ProjectId,
  project: ProjectName,
  env_id: EnvId,
  env: EnvName,
  /** Whether the environment is still there. */
  is_live: Schema.Literal(0, 1),
  actor_type: Schema.Literal("user", "service_account"),
  actor_id: Schema.Union(UserId, ServiceAccountId),
  actor_name: Schema.String,
  delegation_id: Schema.NullOr(DelegationId),
  reason: Schema.NullOr(Schema.String),
  call: Schema.NullOr(Schema.String),
  keys: Schema.NullOr(Schema.String),
  details: Schema.NullOr(Schema.String),
  /** The names in the call, with their ids. */
  named: Schema.NullOr(Schema.String),
  permission: Schema.NullOr(Permission),
  expires_in: Schema.NullOr(Schema.Number),
  rule_id: Schema.NullOr(RuleId),
  revision: Schema.NullOr(Schema.Number),
  outdated: Schema.NullOr(Schema.String),
  protection_version: Schema.Number,
  needed: Schema.Number,
  created_at: Schema.String,
  expires_at: Schema.Number,
  decided_at: Schema.NullOr(Schema.String),
  /** A line of each vote: its address, the vote, its time and its comment, separated by spaces. */
  votes: Schema.NullOr(Schema.String),
  /** Of the protection as it is now; null if there is none. */
  approvers: Schema.NullOr(Schema.String),
  self: Schema.NullOr(Schema.Number),
  passkey: Schema.NullOr(Schema.Number),
  version: Schema.NullOr(Schema.Number)
})
export type RequestRow = typeof RequestRow.Type

const TargetRow = Schema.Struct({
  project_id: ProjectId,
  project: ProjectName,
  env_id: EnvId,
  env: EnvName
})
export type Target = typeof TargetRow.Type

const VoteRow = Schema.Struct({ id: UserId, email: Schema.typeSchema(Email), role: Schema.NullOr(Role) })

const PendingRow = Schema.Struct({ own: Schema.Number, waiting: Schema.Number, bytes: Schema.Number })

const UserRow = Schema.Struct({
  id: UserId,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  superadmin: Schema.Number
})

const AccountRow = Schema.Struct({
  id: ServiceAccountId,
  name: ServiceAccountName,
  org_id: OrgId,
  org: OrgName,
  project_id: Schema.NullOr(ProjectId),
  project: Schema.NullOr(ProjectName),
  reveal: Schema.Number
})

const RevisionRow = Schema.Struct({ revision: Schema.Number, id: RequestId, approved_by: Schema.String })

/** A vote for a pending request ends with the membership or the account of its person, even while the row is still there. */
const liveVote = sql`(r.state <> 'pending' OR EXISTS (
  SELECT 1 FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
  WHERE m.org_id = r.org_id AND m.user_id = v.user_id AND m.removed_at IS NULL))`

/** A pending request ends at its time, whether maintenance has noted it or not. */
const stateNow = sql`CASE WHEN r.state = 'pending' AND r.expires_at <= ${databaseTime} THEN 'expired' ELSE r.state END`

const rows = sql`
  SELECT r.id AS id, r.kind AS kind, ${stateNow} AS state, r.org_id AS org_id, p.id AS project_id, p.name AS project,
    e.id AS env_id, e.name AS env,
    CASE WHEN ${liveEnv} AND p.removed_at IS NULL THEN 1 ELSE 0 END AS is_live,
    r.actor_type AS actor_type, r.actor_id AS actor_id, r.actor_name AS actor_name, r.delegation_id AS delegation_id,
    r.reason AS reason, r.call AS call, r.keys AS keys, r.details AS details, r.named AS named, r.permission AS permission, r.expires_in AS expires_in,
    r.rule_id AS rule_id, r.revision AS revision, r.outdated AS outdated, r.protection_version AS protection_version,
    r.needed AS needed, r.created_at AS created_at, r.expires_at AS expires_at, r.decided_at AS decided_at,
    (SELECT string_agg(v.email || ' ' || v.vote || ' ' || v.created_at || ' ' || coalesce(v.comment, ''), '\n')
      FROM request_votes v WHERE v.request_id = r.id AND ${liveVote}) AS votes,
    t.approvers AS approvers, t.self AS self, t.passkey AS passkey, t.version AS version
  FROM requests r
  JOIN environments e ON e.id = r.env_id JOIN projects p ON p.id = e.project_id
  LEFT JOIN protections t ON t.env_id = e.id AND t.removed_at IS NULL
  WHERE r.org_id = ${"orgId"}`

export const requestsRepo = Effect.map(query, ({ all, first, one, returning, write }) => ({
  find: first(RequestRow)`${rows} AND r.id = ${"id"}`,

  /** Newest first. */
  page: all(RequestRow)`${rows}
    AND (CAST(${"kind"} AS TEXT) IS NULL OR r.kind = ${"kind"})
    AND (CAST(${"state"} AS TEXT) IS NULL OR ${stateNow} = ${"state"})
    AND (CAST(${"before"} AS TEXT) IS NULL OR r.id < ${"before"})
    ORDER BY r.id DESC LIMIT ${"limit"}`,

  target: first(TargetRow)`
    SELECT p.id AS project_id, p.name AS project, e.id AS env_id, e.name AS env
    FROM projects p JOIN environments e ON e.project_id = p.id AND e.name = ${"env"} AND ${liveEnv}
    WHERE p.org_id = ${"orgId"} AND p.name = ${"project"} AND p.removed_at IS NULL`,

  /** An environment of an organization, which may have been removed: its votes are asked for its name. */
  targetById: first(TargetRow)`
    SELECT p.id AS project_id, p.name AS project, e.id AS env_id, e.name AS env
    FROM environments e JOIN projects p ON p.id = e.project_id WHERE e.id = ${"envId"} AND p.org_id = ${"orgId"}`,

  /**
   * The pending requests in an environment: of an actor, and of all. An ended request takes its bytes until maintenance
   * notes its end.
   */
  pending: one(PendingRow)`
    SELECT coalesce(sum(CASE WHEN r.actor_id = ${"actorId"} AND r.expires_at > ${databaseTime} THEN 1 ELSE 0 END), 0) AS own,
      coalesce(sum(CASE WHEN r.expires_at > ${databaseTime} THEN 1 ELSE 0 END), 0) AS waiting,
      coalesce(sum(r.bytes), 0) AS bytes
    FROM requests r WHERE r.env_id = ${"envId"} AND r.state = 'pending'`,

  insert: write`
    INSERT INTO requests (id, org_id, env_id, kind, state, actor_type, actor_id, actor_name, delegation_id, reason, call, keys, details, named,
      permission, expires_in, protection_version, needed, bytes, created_at, expires_at)
    VALUES (${"id"}, ${"orgId"}, ${"envId"}, ${"kind"}, 'pending', ${"actorType"}, ${"actorId"}, ${"actorName"},
      ${"delegationId"}, ${"reason"}, ${"call"}, ${"keys"}, ${"details"}, ${"named"}, ${"permission"}, ${"expiresIn"}, ${"protectionVersion"},
      ${"needed"}, ${"bytes"}, ${"now"}, ${"expiresAt"})`,

  vote: returning(idRow(RequestId))`
    INSERT INTO request_votes (request_id, user_id, email, vote, comment, created_at)
    VALUES (${"id"}, ${"userId"}, ${"email"}, ${"vote"}, ${"comment"}, ${"now"})
    ON CONFLICT (request_id, user_id) DO NOTHING RETURNING request_id AS id`,

  /** The people who approved a request, with their addresses and roles as they are now. */
  approvals: all(VoteRow)`
    SELECT u.id AS id, u.email AS email, m.role AS role
    FROM request_votes v JOIN users u ON u.id = v.user_id AND u.disabled_at IS NULL
    LEFT JOIN members m ON m.org_id = ${"orgId"} AND m.user_id = v.user_id AND m.removed_at IS NULL
    WHERE v.request_id = ${"id"} AND v.vote = 'approve' ORDER BY v.created_at, v.user_id`,

  user: first(UserRow)`
    SELECT id, email, name, superadmin FROM users WHERE id = ${"id"} AND disabled_at IS NULL`,

  account: first(AccountRow)`
    SELECT a.id AS id, a.name AS name, o.id AS org_id, o.name AS org, a.project_id AS project_id, p.name AS project,
      a.reveal AS reveal
    FROM service_accounts a JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
    LEFT JOIN projects p ON p.id = a.project_id
    WHERE a.id = ${"id"} AND a.removed_at IS NULL AND p.removed_at IS NULL`,

  /** The approved requests that made revisions of an environment. */
  ofRevisions: all(RevisionRow)`
    SELECT revision, id, approved_by FROM requests
    WHERE env_id = ${"envId"} AND revision BETWEEN ${"from"} AND ${"to"} AND approved_by IS NOT NULL`,

  insertRule: write`
    INSERT INTO acl_rules
      (id, org_id, subject_type, subject_id, project_pattern, env_pattern, permission, expires_at, created_by, created_at,
        updated_at, request_id)
    VALUES (${"ruleId"}, ${"orgId"}, ${"subjectType"}, ${"subjectId"}, ${"project"}, ${"env"}, ${"permission"},
      ${"expiresAt"}, ${"createdBy"}, ${"now"}, ${"now"}, ${"id"})`
}))
