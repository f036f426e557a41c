/** The network of a login by device: as on SQLite. */
export const clientNetworks: ReadonlyArray<string> = [
  `ALTER TABLE client_logins ADD COLUMN network TEXT COLLATE "C"`,
  `UPDATE client_logins SET network = coalesce(ip_address, 'unknown') WHERE kind = 'device'`,
  `CREATE INDEX client_logins_by_network ON client_logins (network, created_at) WHERE state = 'pending'`
]
