/** The name of a server's sessions in `pg_stat_activity`, as an expression of the server's id. */
export const sessionName = (id: string): string => `'coffer-server ' || ${id}`

/** The name of the sessions of the server with this id. */
export const sessionNameOf = (id: string): string => `coffer-server ${id}`
