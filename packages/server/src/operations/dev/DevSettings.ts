/** Settings of another server's data and address. Whoever has set one expects it to be used. */
export const refused = /^SERVICE_(?:DATABASE_.*|DB_PATH|MASTER_KEY(?:_FILE|_COMMAND)?|HOST)$/

/** The settings that a dev server has of its environment. All others have effects outside: mail, backups, traces. */
export const taken: ReadonlyArray<string> = [
  "SERVICE_PORT",
  "SERVICE_LOG_LEVEL",
  "SERVICE_LOG_FORMAT",
  "SERVICE_CONSOLE",
  "SERVICE_VAULT_API",
  "SERVICE_MCP"
]
