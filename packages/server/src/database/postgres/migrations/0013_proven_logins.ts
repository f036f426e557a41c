/** When the person of a session proved who they are: as on SQLite. */
export const provenLogins: ReadonlyArray<string> = [
  `ALTER TABLE sessions ADD COLUMN proven_at TEXT COLLATE "C"`,
  `UPDATE sessions SET proven_at = created_at`,
  `ALTER TABLE client_logins ADD COLUMN proven_at TEXT COLLATE "C"`,
  `UPDATE client_logins SET proven_at = created_at WHERE state = 'approved'`
]
