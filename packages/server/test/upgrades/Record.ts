import { logIn, verified } from "../identities/World.js"
import { freePort } from "../support/Port.js"
import { type Json, Program } from "../support/Program.js"
import { TestProvider } from "../support/TestProvider.js"
import { databaseOf } from "./Databases.js"
import { describe } from "./Describe.js"
import { fill } from "./Fill.js"
import { type Content, type Engine, keep, serverSettings, testMasterKey } from "./Release.js"
import { columnsOf } from "./Rows.js"

/** What the server of a release needs to be filled: its broker, its webhooks to this machine, and single sign-on. */
const toFill = (port: number, provider: TestProvider) => ({
  SERVICE_PORT: String(port),
  SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
  SERVICE_BROKER: "1",
  SERVICE_VAULT_API: "1",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8",
  SERVICE_OIDC_ISSUER: provider.issuer,
  SERVICE_OIDC_CLIENT_ID: "coffer",
  SERVICE_OIDC_CLIENT_SECRET: "a secret: with/strange+characters"
})

/** Fills a server of a release, whose program is named, and keeps its database as a fixture. */
export const record = async (main: string, version: string, engine: Engine): Promise<void> => {
  const database = await databaseOf(engine, null)
  const isFirst = version === "0.1.0"
  const port = await freePort()
  const provider = await TestProvider.make(`http://127.0.0.1:${port}/api/auth/oidc/callback`)
  await provider.start()
  const settings = { ...serverSettings, ...(isFirst ? {} : toFill(port, provider)), ...database.settings }
  const program = await Program.start(settings, database.folder, main)
  const filled = await fill(program, version)
  if (!isFirst) await logIn({ program, provider }, verified("nina"))
  await provider.stop()
  const described = await describe(program, version, filled.testCredentials)
  await program.stop()
  const rows: Record<string, number> = {}
  for (const table of Object.keys(await columnsOf(database, engine))) {
    const [{ n = 0 } = {}]: ReadonlyArray<Json> = await database.all(`SELECT count(*) AS n FROM ${table}`)
    rows[table] = Number(n)
  }
  const actions = await database.all("SELECT action, count(*) AS n FROM audit_entries GROUP BY action ORDER BY action")
  const content: Content = {
    ...{ version, engine, testMasterKey, ...filled, ...described, rows },
    actions: Object.fromEntries(actions.map(({ action, n }): [string, number] => [String(action), Number(n)]))
  }
  keep({ content, database: await database.dump() })
  await database.drop()
}
