/** References of each version of a secret: as on SQLite. */
export const secretReferences: ReadonlyArray<string> = [
  `CREATE TABLE secret_references (
    secret_id TEXT COLLATE "C" NOT NULL REFERENCES secrets (id),
    version BIGINT NOT NULL,
    env_id TEXT COLLATE "C" NOT NULL REFERENCES environments (id),
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    target_env TEXT COLLATE "C" NOT NULL,
    target_key TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (secret_id, version, target_env, target_key)
  )`,
  `CREATE INDEX secret_references_to ON secret_references (project_id, target_env, target_key, secret_id)`,
  `CREATE INDEX secret_references_from ON secret_references (env_id)`
]
