import type { TestDatabase } from "./Databases.js"
import { type Engine, farAway } from "./Release.js"
import { columnsOf } from "./Rows.js"

/** The tables whose rows end at a time in milliseconds since 1970. */
const ending = [
  ...["acl_rules", "delegations", "environments", "exports", "imports"],
  ...["login_groups", "provider_groups", "requests"]
]

/** Makes a fixture one that was made just now: sessions end by their age, and much else by its time. */
export const moveToToday = async (database: TestDatabase, engine: Engine): Promise<void> => {
  const today = Date.now()
  const now = new Date(today).toISOString()
  await database.execute(`UPDATE sessions SET created_at = '${now}', last_used_at = '${now}'`)
  const [{ made = now } = {}] = await database.all("SELECT max(created_at) AS made FROM audit_entries")
  const columns = await columnsOf(database, engine)
  // A use that is older than a minute is noted, and its person's with it.
  if (columns["delegations"] !== undefined)
    await database.execute(`UPDATE delegations SET last_used_at = '${now}' WHERE last_used_at IS NOT NULL`)
  // They wait for minutes alone.
  if (columns["approvals"] !== undefined) {
    const soon = new Date(today + 600_000).toISOString()
    await database.execute(`UPDATE approvals SET created_at = '${now}', expires_at = '${soon}'`)
  }
  const moved = today - Date.parse(String(made))
  // They last a day from their beginning at most, whatever their end says.
  if (columns["delegations"] !== undefined)
    await database.execute(`UPDATE delegations SET created_at = created_at + ${moved}`)
  for (const table of ending.filter((name) => columns[name]?.includes("expires_at")))
    await database.execute(
      `UPDATE ${table} SET expires_at = expires_at + ${moved} WHERE expires_at < ${Date.parse(farAway)}`
    )
}
