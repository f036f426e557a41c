/** Requirements of projects for keys: as on SQLite. */
export const declaredKeys: ReadonlyArray<string> = [
  `CREATE TABLE declared_keys (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    key TEXT COLLATE "C" NOT NULL,
    required_in TEXT COLLATE "C" NOT NULL,
    pattern TEXT COLLATE "C",
    description TEXT COLLATE "C",
    example TEXT COLLATE "C",
    owner TEXT COLLATE "C",
    updated_by TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, key)
  )`,
  `ALTER TABLE projects ADD COLUMN strict BIGINT NOT NULL DEFAULT 0 CHECK (strict IN (0, 1))`
]
