import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import { ConnectionFailed } from "./Kind.js"
import { ask, type Client, rowsOf } from "./MySqlLogin.js"

const day = 24 * 60 * 60 * 1_000

/** Quotes a text. The session has no backslash escapes. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The name of an account, which is a user from some hosts. */
export const account = (user: string, host: string): string => `${literal(user)}@${literal(host)}`

/** The hash that MariaDB stores by default, so that no statement, and no log of the database, has the password. */
const nativeHash = (password: string): string => {
  const once = createHash("sha1").update(password).digest()
  return `*${createHash("sha1").update(once).digest("hex").toUpperCase()}`
}

/** The name of a database in a grant, where an underscore would stand for any character. */
export const granted = (database: string): string => `\`${database.replaceAll("`", "``").replace(/[_%\\]/g, "\\$&")}\``

/** The rights on everything that the login has itself. */
export const rightsOf = (client: Client) =>
  Effect.map(rowsOf(client, "SHOW GRANTS"), (rows) => {
    const found = rows.flatMap(([row]) => /^GRANT (.+?) ON \*\.\* TO /.exec(String(row))?.[1]?.split(/, ?/) ?? [])
    const has = (...names: ReadonlyArray<string>) =>
      found.some((right) => right === "ALL PRIVILEGES" || names.includes(right))
    return { users: has("CREATE USER"), ends: has("PROCESS") && has("CONNECTION ADMIN", "CONNECTION_ADMIN", "SUPER") }
  })

/** Without these rights, sessions of a removed user would not be seen, and would go on. */
export const checkEnds = (client: Client) =>
  Effect.flatMap(rightsOf(client), ({ ends }) => (ends ? Effect.void : new ConnectionFailed({ reason: "not allowed" })))

/** MariaDB writes passwords into its logs, so it gets a hash, unless a plugin checks passwords. MySQL hides them itself. */
export const formsOf = (client: Client) =>
  Effect.map(
    ask(
      client,
      `SELECT VERSION(), (SELECT COUNT(*) FROM information_schema.plugins
        WHERE plugin_type = 'PASSWORD VALIDATION' AND plugin_status = 'ACTIVE')`
    ),
    ([version, checks]) => ({
      isMariaDb: /mariadb/i.test(String(version)),
      takesHash: /mariadb/i.test(String(version)) && checks === 0
    })
  )

export const passwordForm = ({ takesHash }: { readonly takesHash: boolean }, password: string) =>
  takesHash ? `PASSWORD ${literal(nativeHash(password))}` : literal(password)

export const expiry = (name: string, millis: number) =>
  `ALTER USER ${account(name, "%")} PASSWORD EXPIRE INTERVAL ${Math.max(1, Math.ceil(millis / day))} DAY`
