/** How often all logins of a user were ended, and an index of idle browsers' sessions: as on SQLite. */
export const endedLogins: ReadonlyArray<string> = [
  "ALTER TABLE users ADD COLUMN logins_ended BIGINT NOT NULL DEFAULT 0",
  "CREATE INDEX sessions_idle ON sessions (last_used_at) WHERE kind = 'cookie'"
]
