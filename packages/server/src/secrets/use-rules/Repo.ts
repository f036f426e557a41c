import { ApprovalId, EnvId, OrgId, SecretId, UseRuleId } from "@coffer/domain/base/Ids"
import { EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decidingBy, stateAfter } from "../../access/gate/RequestStates.js"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { query, sql } from "../../database/Query.js"
import { CountRow, idRow } from "../../database/Rows.js"
import { hourMillis, makePurge } from "../../database/jobs/Purge.js"

export const approvalPurge = makePurge({ table: "approvals", lifetime: hourMillis })

const RuleRow = Schema.Struct({
  id: UseRuleId,
  secret_id: SecretId,
  terms: Schema.String,
  minute_at: Schema.Number,
  minute_count: Schema.Number,
  day_at: Schema.Number,
  day_count: Schema.Number,
  created_by: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String
})
/** A rule as it is stored. */
export type StoredRule = typeof RuleRow.Type

/** A rule with the names of the accounts and people that it is for now: of those in the organization. */
export interface RuleRow extends StoredRule {
  readonly accounts: ReadonlyArray<string>
}

const AccountRow = Schema.Struct({ rule_id: UseRuleId, name: Schema.String })
const SubjectRow = Schema.Struct({ id: Schema.String, name: Schema.String })
export type SubjectRow = typeof SubjectRow.Type

const KeyedRow = Schema.Struct({ ...RuleRow.fields, key: SecretKey })
const CountsRow = Schema.Struct({ of_secret: Schema.Number, of_env: Schema.Number })
const TimeRow = Schema.Struct({ created_at: Schema.String })

const ApprovalRow = Schema.Struct({
  id: ApprovalId,
  org_id: OrgId,
  env_id: EnvId,
  project: ProjectName,
  env: EnvName,
  actor_id: Schema.String,
  actor_name: Schema.String,
  hash: Schema.String,
  request: Schema.String,
  state: Schema.String,
  created_at: Schema.String,
  expires_at: Schema.String
})
export type ApprovalRow = typeof ApprovalRow.Type

const columns = sql`r.id AS id, r.secret_id AS secret_id, r.terms AS terms, r.minute_at AS minute_at,
  r.minute_count AS minute_count, r.day_at AS day_at, r.day_count AS day_count, r.created_by AS created_by,
  r.created_at AS created_at, r.updated_at AS updated_at`

const accounts = sql`
  SELECT a.rule_id AS rule_id, coalesce(u.email, t.name) AS name
  FROM use_rules r JOIN use_rule_accounts a ON a.rule_id = r.id
  LEFT JOIN members m ON m.org_id = a.org_id AND m.user_id = a.subject_id AND m.removed_at IS NULL
  LEFT JOIN users u ON u.id = m.user_id
  LEFT JOIN service_accounts t ON t.id = a.subject_id AND t.removed_at IS NULL`

const isHere = sql`(u.id IS NOT NULL OR t.id IS NOT NULL)`

const approvals = sql`
  SELECT a.id AS id, a.org_id AS org_id, a.env_id AS env_id, p.name AS project, e.name AS env, a.actor_id AS actor_id,
    a.actor_name AS actor_name, a.hash AS hash, a.request AS request, a.state AS state, a.created_at AS created_at,
    a.expires_at AS expires_at
  FROM approvals a JOIN environments e ON e.id = a.env_id AND ${liveEnv}
  JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL`

const may = decidingBy(sql`${"now"}`)

/** Use rules with the counters of their budgets, and requests that wait for a person. */
export const useRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query

  const rulesOfSecret = all(RuleRow)`
      SELECT ${columns} FROM use_rules r
      WHERE r.secret_id = ${"secretId"} AND r.removed_at IS NULL ORDER BY r.id`

  const rulesOfEnvironment = all(KeyedRow)`
      SELECT ${columns}, s.key AS key
      FROM secrets s JOIN use_rules r ON r.secret_id = s.id AND r.removed_at IS NULL
      WHERE s.env_id = ${"envId"} AND s.removed_at IS NULL ORDER BY s.key, r.id`

  const accountsOfSecret = all(AccountRow)`
      ${accounts} WHERE r.secret_id = ${"secretId"} AND r.removed_at IS NULL AND ${isHere} ORDER BY a.rule_id, a.position`

  const accountsOfEnvironment = all(AccountRow)`
      ${accounts} JOIN secrets s ON s.id = r.secret_id AND s.removed_at IS NULL
      WHERE s.env_id = ${"envId"} AND r.removed_at IS NULL AND ${isHere} ORDER BY a.rule_id, a.position`

  const findRule = first(RuleRow)`SELECT ${columns} FROM use_rules r WHERE r.id = ${"id"} AND r.removed_at IS NULL`

  const withAccounts = <Row extends StoredRule>(
    rows: ReadonlyArray<Row>,
    named: Effect.Effect<ReadonlyArray<typeof AccountRow.Type>>
  ): Effect.Effect<ReadonlyArray<Row & RuleRow>> =>
    rows.length === 0
      ? Effect.succeed([])
      : Effect.map(named, (found) => {
          const names = Array.groupBy(found, ({ rule_id }) => rule_id)
          return rows.map((row) => ({ ...row, accounts: (names[row.id] ?? []).map(({ name }) => name) }))
        })

  /** The rules of a secret, oldest first. */
  const ofSecret = ({ secretId }: { readonly secretId: SecretId }) =>
    Effect.flatMap(rulesOfSecret({ secretId }), (rows) => withAccounts(rows, accountsOfSecret({ secretId })))

  const deleteAccounts = write`DELETE FROM use_rule_accounts WHERE rule_id = ${"id"}`

  const decide = (event: "approve" | "refuse") =>
    returning(idRow(ApprovalId))`
        UPDATE approvals SET state = ${stateAfter(event)}, decided_by = ${"by"}, expires_at = ${"expiresAt"}
        WHERE id = ${"id"} AND ${may(event)} RETURNING id`

  const insertAccounts = insert("use_rule_accounts", ["rule_id", "position", "org_id", "subject_id"])

  return {
    ofSecret,

    /** The rules of an environment's live secrets. */
    ofEnvironment: ({ envId }: { readonly envId: EnvId }) =>
      Effect.flatMap(rulesOfEnvironment({ envId }), (rows) => withAccounts(rows, accountsOfEnvironment({ envId }))),

    /** The live service account or member of an organization by name or e-mail address. */
    subject: first(SubjectRow)`
        SELECT id, name FROM service_accounts WHERE org_id = ${"orgId"} AND name = ${"name"} AND removed_at IS NULL
        UNION ALL
        SELECT u.id AS id, u.email AS name FROM users u
        JOIN members m ON m.user_id = u.id AND m.org_id = ${"orgId"} AND m.removed_at IS NULL
        WHERE u.email = ${"email"}`,

    /** Makes a rule be for exactly these. */
    setAccounts: (id: UseRuleId, orgId: OrgId, subjects: ReadonlyArray<SubjectRow>) =>
      Effect.zipRight(
        deleteAccounts({ id }),
        insertAccounts(
          subjects.map((subject, position) => ({ rule_id: id, position, org_id: orgId, subject_id: subject.id }))
        )
      ),

    counts: one(CountsRow)`
        SELECT count(CASE WHEN s.id = ${"secretId"} THEN 1 END) AS of_secret, count(*) AS of_env
        FROM secrets s JOIN use_rules r ON r.secret_id = s.id AND r.removed_at IS NULL
        WHERE s.env_id = ${"envId"} AND s.removed_at IS NULL`,

    insert: insert("use_rules", [
      ...["id", "secret_id", "terms", "per_minute", "per_day", "minute_at", "minute_count", "day_at", "day_count"],
      ...["created_by", "created_at", "updated_at"]
    ]),

    insertAccounts,

    update: write`
        UPDATE use_rules SET terms = ${"terms"}, per_minute = ${"perMinute"}, per_day = ${"perDay"},
          updated_at = ${"now"}
        WHERE id = ${"id"}`,

    remove: write`UPDATE use_rules SET removed_at = ${"now"} WHERE id = ${"id"}`,

    /**
     * Counts a use, if the rule is as it was read and its budgets are not used up: one statement, so that the count is exact
     * whatever runs at the same time. A clock that is behind that of another server counts in the other's minute.
     */
    claim: returning(idRow(UseRuleId))`
        UPDATE use_rules SET
          minute_count = CASE WHEN minute_at >= ${"minute"} THEN minute_count + 1 ELSE 1 END,
          minute_at = CASE WHEN minute_at >= ${"minute"} THEN minute_at ELSE ${"minute"} END,
          day_count = CASE WHEN day_at >= ${"day"} THEN day_count + 1 ELSE 1 END,
          day_at = CASE WHEN day_at >= ${"day"} THEN day_at ELSE ${"day"} END
        WHERE id = ${"id"} AND removed_at IS NULL AND updated_at = ${"updatedAt"}
          AND (minute_at < ${"minute"} OR minute_count < per_minute) AND (day_at < ${"day"} OR day_count < per_day)
        RETURNING id`,

    find: findRule,

    /** When a version of a secret was made. */
    versionTime: first(TimeRow)`
        SELECT created_at FROM secret_versions WHERE secret_id = ${"secretId"} AND version = ${"version"}`,

    findApproval: first(ApprovalRow)`${approvals} WHERE a.org_id = ${"orgId"} AND a.id = ${"id"}`,

    /** The newest approvals of an organization. */
    ofOrganization: all(ApprovalRow)`
        ${approvals} WHERE a.org_id = ${"orgId"} AND a.expires_at > ${"now"} ORDER BY a.id DESC LIMIT ${"limit"}`,

    /** The approval of the same request that is not used up, newest first. */
    sameRequest: first(ApprovalRow)`
        ${approvals} WHERE a.env_id = ${"envId"} AND a.actor_id = ${"actorId"} AND a.hash = ${"hash"}
          AND a.state <> 'used' AND a.expires_at > ${"now"} ORDER BY a.id DESC`,

    pending: one(CountRow)`
        SELECT count(*) AS count FROM approvals
        WHERE env_id = ${"envId"} AND actor_id = ${"actorId"} AND state = 'pending' AND expires_at > ${"now"}`,

    insertApproval: write`
        INSERT INTO approvals (id, org_id, env_id, actor_id, actor_name, hash, request, state, created_at, expires_at)
        VALUES (${"id"}, ${"orgId"}, ${"envId"}, ${"actorId"}, ${"actorName"}, ${"hash"}, ${"request"}, 'pending',
          ${"now"}, ${"expiresAt"})`,

    approve: decide("approve"),

    refuse: decide("refuse"),

    /** Uses an approval, once. */
    spend: returning(idRow(ApprovalId))`
        UPDATE approvals SET state = ${stateAfter("use")} WHERE id = ${"id"} AND ${may("use")} RETURNING id`
  } as const
})
