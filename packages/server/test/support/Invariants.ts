import { createHmac } from "node:crypto"
import { dueMillis, type DueTerms } from "@coffer/domain/secrets/Due"
import { byteLength } from "@coffer/domain/secrets/SecretValueForm"
import { makeKeyring, unwrapBytes, type Wrapped } from "@coffer/server/keys/Keyring"
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type StoredVersion, storedVersions, valueOf } from "./StoredVersions.js"

export const masterKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/** Returns the rows of a statement that both engines understand. */
export type All = <Row extends object>(text: string) => Effect.Effect<ReadonlyArray<Row>>

interface HeadRow {
  readonly log: string
  readonly seq: number
  readonly chain: string
  readonly created_at: string
  readonly mac: string
}

interface AuditRow extends Omit<HeadRow, "mac"> {
  readonly id: string
  readonly org_id: string | null
  readonly actor_type: string
  readonly actor_id: string | null
  readonly actor_name: string
  readonly action: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly ip_address: string | null
  readonly metadata: string
}

interface ListRow {
  readonly number: number
  readonly log: string
  readonly created_at: string
  readonly chain: string
}

interface DueRow extends DueTerms {
  readonly secret_id: string
  readonly due_at: string | null
  readonly version_at: string
}

interface WrappedRow extends Wrapped {
  readonly name: string
}

/**
 * Everything that holds of every database that the program leaves behind, whatever happened to it and on either engine. The
 * chain and the sums are computed here anew.
 */
export const invariantsOf = (all: All, key: string = masterKey) =>
  Effect.gen(function* () {
    const none = (what: string, text: string) =>
      Effect.map(all(text), (found) => {
        assert.deepStrictEqual(found, [], what)
      })

    yield* none(
      "a secret without the row of its current version",
      `SELECT s.id FROM secrets s LEFT JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version
        WHERE v.secret_id IS NULL OR v.destroyed_at IS NOT NULL AND s.env_id IN (
          SELECT e.id FROM environments e JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL
          JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL WHERE e.removed_at IS NULL)`
    )
    yield* none(
      "a row of the trash whose place is live, or that is not where it was",
      `SELECT t.place_id FROM trash t
        LEFT JOIN organizations o ON t.kind = 'org' AND o.id = t.place_id
        LEFT JOIN projects p ON t.kind = 'project' AND p.id = t.place_id
        LEFT JOIN environments e ON t.kind = 'env' AND e.id = t.place_id
        WHERE coalesce(o.removed_at, p.removed_at, e.removed_at) IS NULL
          OR t.org_id <> coalesce(o.id, p.org_id, (SELECT q.org_id FROM projects q WHERE q.id = e.project_id))`
    )
    yield* none(
      "a secret whose versions are not 1 to n",
      `SELECT s.id, s.version, count(v.version) AS versions FROM secrets s
        LEFT JOIN secret_versions v ON v.secret_id = s.id GROUP BY s.id
        HAVING min(v.version) <> 1 OR max(v.version) <> s.version OR count(v.version) <> s.version`
    )
    yield* none(
      "an environment whose counters are not the sums",
      `SELECT e.id, e.secret_count, e.value_bytes, count(s.id) AS secrets, coalesce(sum(v.value_bytes), 0) AS bytes
        FROM environments e
        LEFT JOIN secrets s ON s.env_id = e.id AND s.removed_at IS NULL
        LEFT JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version
        GROUP BY e.id HAVING e.secret_count <> count(s.id) OR e.value_bytes <> coalesce(sum(v.value_bytes), 0)`
    )
    const changes = `
      SELECT s.env_id, s.id, v.revision, v.created_at AS at, v.created_by AS who
        FROM secret_versions v JOIN secrets s ON s.id = v.secret_id
      UNION ALL
      SELECT env_id, id, removed_revision, removed_at, NULL FROM secrets WHERE removed_at IS NOT NULL`
    yield* none(
      "a change with a revision beyond its environment's, or with none",
      `SELECT c.id FROM (${changes}) c JOIN environments e ON e.id = c.env_id
        WHERE c.revision IS NULL OR c.revision NOT BETWEEN 1 AND e.revision`
    )
    yield* none(
      "a revision that two change sets share",
      `SELECT env_id, revision FROM (${changes}) c GROUP BY env_id, revision
        HAVING count(DISTINCT at) > 1 OR count(DISTINCT who) > 1 OR count(DISTINCT id) <> count(*)`
    )
    yield* none(
      "a later version with an earlier revision",
      `SELECT a.secret_id FROM secret_versions a
        JOIN secret_versions b ON b.secret_id = a.secret_id AND b.version > a.version AND b.revision <= a.revision`
    )
    yield* none(
      "a removed secret with a version written after its removal",
      `SELECT s.id FROM secrets s JOIN secret_versions v ON v.secret_id = s.id AND v.revision >= s.removed_revision`
    )
    const secretChanges = `
      SELECT s.env_id, v.revision, s.key, s.id, v.version, CASE v.version WHEN 1 THEN 'created' ELSE 'updated' END AS change
        FROM secret_versions v JOIN secrets s ON s.id = v.secret_id
      UNION ALL
      SELECT env_id, removed_revision, key, id, version, 'deleted' FROM secrets WHERE removed_at IS NOT NULL`
    yield* none(
      "a change of a secret that is not in the history",
      `${secretChanges} EXCEPT SELECT env_id, revision, key, secret_id, version, change FROM secret_changes`
    )
    yield* none(
      "a history with gaps",
      `SELECT e.id, e.revision, count(DISTINCT c.revision) AS revisions FROM environments e
        LEFT JOIN secret_changes c ON c.env_id = e.id WHERE e.removed_at IS NULL
          AND e.id NOT IN (SELECT env_id FROM secret_changes_since)
        GROUP BY e.id HAVING count(DISTINCT c.revision) <> e.revision OR coalesce(max(c.revision), 0) <> e.revision`
    )
    yield* none(
      "a key whose last change is not what it is",
      `SELECT c.env_id, c.key FROM secret_changes c LEFT JOIN secrets s ON s.id = c.secret_id AND s.removed_at IS NULL
        WHERE c.revision = (SELECT max(revision) FROM secret_changes WHERE env_id = c.env_id AND key = c.key)
          AND (c.change = 'deleted') <> (s.id IS NULL)`
    )
    yield* none(
      "a live organization without an owner",
      `SELECT id FROM organizations o WHERE removed_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM members WHERE org_id = o.id AND role = 'owner' AND removed_at IS NULL)`
    )
    yield* none(
      "an import of an organization that is visible",
      `SELECT i.id FROM imports i JOIN organizations o ON o.id = i.org_id WHERE o.removed_at IS NULL
        UNION ALL SELECT rule_id FROM import_use_people WHERE org_id NOT IN (SELECT org_id FROM imports)`
    )
    const dues = yield* all<DueRow>(
      `SELECT d.secret_id, d.expires_at, d.rotate_every_days, d.turn_at, d.due_at, v.created_at AS version_at FROM secret_dues d
        JOIN secrets s ON s.id = d.secret_id JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version`
    )
    for (const { due_at, secret_id, version_at, ...terms } of dues) {
      const millis = dueMillis(terms, Date.parse(version_at))
      assert.strictEqual(due_at, millis === null ? null : new Date(millis).toISOString(), `due date of ${secret_id}`)
    }
    yield* none(
      "two pending codes for one e-mail",
      `SELECT email FROM login_codes WHERE state = 'pending' GROUP BY email HAVING count(*) > 1`
    )
    yield* none(
      "a token that is not a hash",
      `SELECT id FROM sessions WHERE trim(token_hash, '0123456789abcdef') <> ''`
    )
    yield* none(
      "a session of a service account whose token is not a hash",
      `SELECT id FROM federated_sessions WHERE trim(token_hash, '0123456789abcdef') <> '' OR length(token_hash) <> 64`
    )
    yield* none(
      "a session of a key whose token is not a hash",
      `SELECT id FROM key_sessions WHERE trim(token_hash, '0123456789abcdef') <> '' OR length(token_hash) <> 64`
    )
    yield* none(
      "a passkey of a person who is disabled, or more than ten of one, or a challenge that is not a hash",
      `SELECT p.id FROM passkeys p JOIN users u ON u.id = p.user_id WHERE u.disabled_at IS NOT NULL
        UNION ALL SELECT user_id FROM passkeys GROUP BY user_id HAVING count(*) > 10
        UNION ALL SELECT id FROM passkey_challenges
          WHERE trim(id, '0123456789abcdef') <> '' OR length(id) <> 64`
    )
    yield* none(
      "a delegation whose token is not a hash, or of a person who is disabled",
      `SELECT d.id FROM delegations d JOIN users u ON u.id = d.user_id
        WHERE trim(d.token_hash, '0123456789abcdef') <> '' OR length(d.token_hash) <> 64 OR u.disabled_at IS NOT NULL`
    )
    yield* none(
      "a session of another service account than its federation's, or one that outlasts its federation",
      `SELECT s.id FROM federated_sessions s JOIN federations f ON f.id = s.federation_id
        WHERE s.service_account_id <> f.service_account_id OR s.created_at < f.created_at
          OR s.expires_at > coalesce(f.expires_at, s.expires_at)`
    )
    yield* none(
      "a federation of another organization than its account's, or one that outlives its account",
      `SELECT f.id FROM federations f JOIN service_accounts a ON a.id = f.service_account_id
        WHERE f.org_id <> a.org_id OR (f.removed_at IS NULL AND a.removed_at IS NOT NULL)`
    )
    yield* none(
      "a member of a group that was removed, or of one of another organization than the member's",
      `SELECT gm.user_id FROM group_members gm JOIN groups g ON g.id = gm.group_id
        LEFT JOIN members m ON m.user_id = gm.user_id AND m.org_id = gm.org_id AND m.removed_at IS NULL
        WHERE g.org_id <> gm.org_id OR g.removed_at IS NOT NULL OR m.id IS NULL`
    )
    yield* none(
      "a mapping of a group that was removed, or of one of another organization",
      `SELECT gx.group_id FROM group_mappings gx JOIN groups g ON g.id = gx.group_id
        WHERE g.org_id <> gx.org_id OR g.removed_at IS NOT NULL`
    )
    yield* none(
      "a group that a login brought to somebody who is no member",
      `SELECT lg.user_id FROM login_groups lg
        LEFT JOIN members m ON m.user_id = lg.user_id AND m.org_id = lg.org_id AND m.removed_at IS NULL
        WHERE m.id IS NULL`
    )
    yield* none(
      "a group of a login in an organization that the person's last login did not bring, without steps that are left",
      `SELECT lg.user_id FROM login_groups lg JOIN provider_groups other ON other.user_id = lg.user_id
        JOIN organizations o ON o.id = lg.org_id AND o.removed_at IS NULL
        WHERE NOT EXISTS (SELECT 1 FROM group_logins l WHERE l.user_id = lg.user_id)
          AND NOT EXISTS (
            SELECT 1 FROM provider_groups p WHERE p.user_id = lg.user_id AND p.provider_group = lg.provider_group)`
    )
    yield* none(
      "a lasting rule of a group that was removed",
      `SELECT r.id FROM acl_rules r JOIN groups g ON g.id = r.subject_id
        WHERE r.removed_at IS NULL AND r.expires_at IS NULL AND g.removed_at IS NOT NULL`
    )
    yield* none(
      "an approved login of a program without a person",
      `SELECT id FROM client_logins WHERE state = 'approved' AND user_id IS NULL`
    )
    yield* none(
      "a search index ahead of its log",
      `SELECT i.log FROM audit_indexed i LEFT JOIN audit_heads h ON h.log = i.log WHERE i.seq > coalesce(h.seq, 0)`
    )
    const counters = "SELECT id, entries FROM audit_place_counters"
    const counts = `SELECT run, count(*) FROM audit_postings GROUP BY 1`
    yield* none("an audit counter that is not the count", `${counters} EXCEPT ${counts}`)
    yield* none("audit postings that are not counted", `${counts} EXCEPT ${counters}`)
    const postings = `SELECT p.log, k.actor_id, k.action, k.resource_type, o.position FROM audit_postings o
      JOIN audit_place_counters k ON k.id = o.run JOIN audit_places p ON p.id = k.place WHERE p.project = '' AND p.env = '' AND p.keys = '' AND p.actor_name = ''`
    const indexed = `audit_entries e JOIN audit_indexed i ON i.log = e.log AND i.seq >= e.seq`
    const runs = ["e.log", "''"]
      .flatMap((log) => [
        `SELECT ${log}, '', e.action, e.resource_type, e.position FROM ${indexed}`,
        `SELECT ${log}, e.actor_id, e.action, e.resource_type, e.position FROM ${indexed} WHERE e.actor_id IS NOT NULL`
      ])
      .join(" UNION ALL ")
    yield* none("an audit posting without its entry", `${postings} EXCEPT SELECT * FROM (${runs}) r`)
    yield* none("an audit entry without a posting", `SELECT * FROM (${runs}) r EXCEPT ${postings}`)
    yield* none(
      "an audit entry in another log than its organization's",
      `SELECT id FROM audit_entries WHERE log <> coalesce(org_id, 'system')`
    )
    yield* none(
      "an audit log with gaps",
      `SELECT e.log FROM audit_entries e LEFT JOIN audit_starts s ON s.log = e.log GROUP BY e.log
        HAVING min(e.seq) <> 1 + coalesce(max(s.seq), 0) OR max(e.seq) <> count(*) + coalesce(max(s.seq), 0)`
    )
    yield* none(
      "an audit entry that is older than the one before it",
      `SELECT b.id FROM audit_entries a JOIN audit_entries b ON b.log = a.log AND b.seq = a.seq + 1
        WHERE b.created_at < a.created_at OR b.position <= a.position`
    )

    const keyring = yield* makeKeyring(Redacted.make(key))
    assert.strictEqual((yield* all("SELECT id FROM instance")).length, 1)
    const wrapped = new Map((yield* all<WrappedRow>("SELECT * FROM wrapped_keys")).map((row) => [row.name, row]))
    const signing = [...wrapped.keys()].filter((name) => name.startsWith("webhook/"))
    const waiting = (yield* all<{ readonly id: string }>(
      "SELECT id FROM requests WHERE kind = 'change' AND state = 'pending'"
    )).map(({ id }) => `request/${id}`)
    const drawn = [...wrapped.keys()].filter((name) => name.startsWith("rotation/"))
    const draws = (yield* all<{ readonly id: string; readonly draw: number }>("SELECT id, draw FROM rotations")).map(
      ({ draw, id }) => `rotation/${id}/${draw}`
    )
    assert.includeMembers(draws, drawn)
    const leased = [...wrapped.keys()].filter((name) => name.startsWith("lease/"))
    assert.includeMembers(
      (yield* all<{ readonly id: string }>("SELECT id FROM leases")).map(({ id }) => `lease/${id}`),
      leased
    )
    const own = new Set([...signing, ...drawn, ...leased])
    const others = [...wrapped.keys()].filter((name) => !own.has(name))
    assert.sameMembers(others, ["audit", "check", ...waiting])
    for (const name of [...own, ...waiting]) yield* unwrapBytes(keyring, name, wrapped.get(name)!)
    const webhooks = yield* all<{ readonly id: string; readonly key_number: number }>(
      "SELECT id, key_number FROM webhooks WHERE removed_at IS NULL"
    )
    for (const { id, key_number } of webhooks) assert.include(signing, `webhook/${id}/${key_number}`)
    const known = webhooks.flatMap(({ id, key_number: last }) => [`webhook/${id}/${last}`, `webhook/${id}/${last - 1}`])
    assert.deepStrictEqual(
      signing.filter((name) => !known.includes(name)),
      []
    )
    yield* none(
      "a delivery of a lane that waits although none before it does",
      `SELECT d.id FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id AND w.enabled = 1
        WHERE d.state = 'pending' AND d.next_at IS NULL AND NOT EXISTS (SELECT 1 FROM webhook_deliveries e
          WHERE e.webhook_id = d.webhook_id AND e.lane = d.lane AND e.state = 'pending' AND e.seq < d.seq)`
    )
    yield* none(
      "a webhook ahead of its log",
      `SELECT w.id FROM webhooks w LEFT JOIN audit_heads h ON h.log = w.org_id WHERE w.seq > coalesce(h.seq, 0)`
    )
    const auditKey = yield* unwrapBytes(keyring, "audit", wrapped.get("audit")!)
    const mac = (...parts: ReadonlyArray<string>) =>
      parts.reduce((hmac, part) => hmac.update(part), createHmac("sha256", auditKey)).digest("hex")

    const starts = new Map<string, string>()
    for (const { chain, log, mac: found, seq } of yield* all<Omit<HeadRow, "created_at">>(
      "SELECT * FROM audit_starts"
    )) {
      assert.strictEqual(found, mac(JSON.stringify(["coffer/audit-start/1", log, seq, chain])), `start of log ${log}`)
      starts.set(log, chain)
    }
    const ends = new Map<string, { readonly seq: number; readonly chain: string; readonly created_at: string }>()
    for (const row of yield* all<AuditRow>("SELECT * FROM audit_entries ORDER BY log, seq")) {
      const form = JSON.stringify([
        ...["coffer/audit-entry/1", row.id, row.log, row.seq, row.org_id, row.actor_type, row.actor_id, row.actor_name],
        ...[row.action, row.resource_type, row.resource_id, row.ip_address, row.metadata, row.created_at]
      ])
      const before = ends.get(row.log)?.chain ?? starts.get(row.log) ?? "0".repeat(64)
      assert.strictEqual(row.chain, mac(before, form), `link ${row.seq} of log ${row.log}`)
      ends.set(row.log, { seq: row.seq, chain: row.chain, created_at: row.created_at })
    }
    const heads = yield* all<HeadRow>("SELECT * FROM audit_heads")
    assert.deepStrictEqual(
      heads.map(({ chain, created_at, log, seq }) => [log, { seq, chain, created_at }] as const).sort(),
      [...ends].sort()
    )
    for (const { chain, created_at, log, mac: found, seq } of heads) {
      assert.strictEqual(found, mac(JSON.stringify(["coffer/audit-head/1", log, seq, chain, created_at])))
    }

    let listed = { number: 0, chain: "0".repeat(64) }
    const logs: Array<string> = []
    for (const { chain, created_at, log, number } of yield* all<ListRow>("SELECT * FROM audit_logs ORDER BY number")) {
      assert.strictEqual(number, listed.number + 1, `number of the log ${log}`)
      const form = JSON.stringify(["coffer/audit-log/1", number, log, created_at])
      assert.strictEqual(chain, mac(listed.chain, form), `link of the log ${log}`)
      listed = { number, chain }
      logs.push(log)
    }
    assert.sameMembers(logs, [...ends.keys()], "the list of logs")
    assert.strictEqual(
      Buffer.from(yield* unwrapBytes(keyring, "check", wrapped.get("check")!)).toString(),
      JSON.stringify(["coffer master key check", listed.number, listed.chain])
    )

    for (const row of yield* all<StoredVersion>(`${storedVersions} WHERE v.destroyed_at IS NULL`)) {
      assert.strictEqual(byteLength(yield* valueOf(keyring, row)), row.value_bytes)
    }
  })
