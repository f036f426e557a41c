import Sqlite from "better-sqlite3"

const pragmas = [
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "secure_delete = ON",
  "busy_timeout = 5000",
  "trusted_schema = OFF",
  "cell_size_check = ON",
  "temp_store = MEMORY",
  "mmap_size = 0"
]

/** Opens Coffer's database with Coffer's own settings. */
export const openDatabase = (path, { readonly = false } = {}) => {
  const database = new Sqlite(path, { readonly, fileMustExist: true })
  for (const pragma of pragmas.slice(readonly ? 2 : 0)) database.pragma(pragma)
  return database
}

const sealedColumns = `v.format AS format, v.kek_id AS kek_id, v.wrapped_key AS wrapped_key,
  v.ciphertext AS ciphertext`

/** The statements that Coffer runs for the same requests. */
export const statements = {
  read: (database) => ({
    actor: database.prepare(`
      SELECT a.id AS account_id, a.name AS name, o.id AS org_id, o.name AS org_name, p.id AS project_id,
        p.name AS project_name, a.reveal AS reveal, a.last_used_at AS last_used_at
      FROM api_keys k
      JOIN service_accounts a ON a.id = k.service_account_id AND a.removed_at IS NULL
      JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
      LEFT JOIN projects p ON p.id = a.project_id
      WHERE k.token_hash = ? AND k.removed_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`),
    place: database.prepare(`
      SELECT o.id AS org_id, o.name AS org_name, m.role AS role,
        p.id AS project_id, p.name AS project_name, e.id AS env_id, e.name AS env_name,
        r.id AS rule_id, r.project_pattern AS project_pattern, r.env_pattern AS env_pattern, r.permission AS permission
      FROM organizations o
      LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ? AND m.removed_at IS NULL
      LEFT JOIN projects p ON p.org_id = o.id AND p.name = ? AND p.removed_at IS NULL
      LEFT JOIN environments e ON e.project_id = p.id AND e.name = ? AND e.removed_at IS NULL
      LEFT JOIN acl_rules r ON r.subject_id = ? AND r.org_id = o.id AND r.removed_at IS NULL
      WHERE o.name = ? AND o.removed_at IS NULL`),
    secret: database.prepare(`
      SELECT s.id AS id, v.version AS version, ${sealedColumns}
      FROM secrets s JOIN secret_versions v ON v.secret_id = s.id AND v.version = coalesce(?, s.version)
      WHERE s.env_id = ? AND s.key = ? AND s.removed_at IS NULL`),
    bundle: database.prepare(`
      SELECT s.id AS id, s.key AS key, s.version AS version, s.updated_at AS updated_at, v.value_bytes AS value_bytes,
        ${sealedColumns}
      FROM secrets s JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version
      WHERE s.env_id = ? AND s.removed_at IS NULL ORDER BY s.key`),
    revision: database.prepare("SELECT revision FROM environments WHERE id = ? AND removed_at IS NULL")
  }),
  write: (database) => ({
    nextRevision: database.prepare(`
      UPDATE environments SET revision = revision + 1 WHERE id = ? AND removed_at IS NULL
      RETURNING revision, secret_count, value_bytes`),
    findLive: database.prepare(`
      SELECT s.id AS id, s.version AS version, s.created_at AS created_at, v.value_bytes AS value_bytes
      FROM secrets s JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version
      WHERE s.env_id = ? AND s.key = ? AND s.removed_at IS NULL`),
    insertSecret: database.prepare(
      "INSERT INTO secrets (id, env_id, key, version, created_at, updated_at) VALUES (?, ?, ?, 1, ?, ?)"
    ),
    setVersion: database.prepare("UPDATE secrets SET version = ?, updated_at = ? WHERE id = ?"),
    insertVersion: database.prepare(`
      INSERT INTO secret_versions (secret_id, version, revision, format, kek_id, wrapped_key, ciphertext, value_bytes,
        created_by, created_at)
      VALUES (@secret_id, @version, @revision, @format, @kek_id, @wrapped_key, @ciphertext, @value_bytes, @created_by,
        @created_at)`),
    setTotals: database.prepare("UPDATE environments SET revision = ?, secret_count = ?, value_bytes = ? WHERE id = ?")
  })
}
