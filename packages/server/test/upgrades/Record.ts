import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { logIn, verified } from "../identities/World.js"
import { freePort } from "../support/Port.js"
import { type Json, Program } from "../support/Program.js"
import { TestProvider } from "../support/TestProvider.js"
import { Receiver } from "../webhooks/Receiver.js"
import { databaseOf, type TestDatabase } from "./Databases.js"
import { describe } from "./Describe.js"
import { fill, type Filled } from "./Fill.js"
import { afterAnHour, anHour } from "./FillOf030.js"
import {
  acme,
  asking,
  type Content,
  type Credentials,
  type Engine,
  isSince,
  keep,
  secretsOf,
  serverSettings,
  testMasterKey
} from "./Release.js"
import { columnsOf } from "./Rows.js"

/** The settings that a release's server needs to be filled: its broker, its webhooks to this machine, and single sign-on. */
const toFill = (version: string, origin: string, provider: TestProvider, folder: string) => ({
  SERVICE_PORT: new URL(origin).port,
  SERVICE_PUBLIC_URL: origin,
  SERVICE_BROKER: "1",
  SERVICE_VAULT_API: "1",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8",
  SERVICE_OIDC_ISSUER: provider.issuer,
  SERVICE_OIDC_CLIENT_ID: "coffer",
  SERVICE_OIDC_CLIENT_SECRET: "a secret: with/strange+characters",
  ...(isSince(version, "0.3.0") && {
    SERVICE_AUDIT_STREAM: join(folder, "stream"),
    SERVICE_OIDC_GROUPS_CLAIM: "groups",
    SERVICE_TRUSTED_PROXIES: "127.0.0.0/8"
  })
})

/** How often in a row, 20 ms apart, nothing may be missing: one job's event is delivered while another job makes the next. */
const calm = 50

/** Waits until a server's jobs have made of the database what they make after an hour. */
const jobsAreDone = async (database: TestDatabase): Promise<void> => {
  const missing = Object.entries(afterAnHour).map(
    ([table, condition]) => `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE ${condition})`
  )
  missing.push("SELECT 1 FROM webhook_deliveries WHERE state = 'pending'")
  for (let row = 0; row < calm; row++) {
    if ((await database.all(missing.join(" UNION ALL "))).length > 0) row = 0
    await sleep(20)
  }
}

/** Reads a secret as somebody whose right comes from a group of the provider. It accepts the invitation. */
const readByGroup = async (program: Program, ada: Credentials): Promise<void> => {
  const secret = `${secretsOf("dev", `${acme}/projects/billing`)}/READ_BY_GROUP`
  await asking(program, ada)("PUT", secret, { value: "for a group" })
  const nina = { authorization: `Bearer ${await program.login("nina@example.com")}` }
  await asking(program, nina)("GET", secret)
}

export interface FilledServer extends Filled {
  readonly database: TestDatabase
  readonly program: Program
}

/** Fills the server of a release, whose program is named. */
export const filledServer = async (main: string, version: string, engine: Engine): Promise<FilledServer> => {
  const database = await databaseOf(engine, null)
  const isFirst = !isSince(version, "0.2.0")
  // A name: there are no passkeys for an address.
  const origin = `http://localhost:${await freePort()}`
  const provider = await TestProvider.make(`${origin}/api/auth/oidc/callback`)
  await provider.start()
  const upstream = await Receiver.start()
  const more = isFirst ? {} : toFill(version, origin, provider, database.folder)
  const settings = { ...serverSettings, ...more, ...database.settings }
  const first = await Program.start(settings, database.folder, main)
  const filled = await fill(first, version, upstream, origin)
  if (!isFirst) await logIn({ program: first, provider }, { ...verified("nina"), groups: ["platform-team"] })
  if (isSince(version, "0.3.0")) await readByGroup(first, filled.testCredentials["ada"] ?? {})
  const later = async () => {
    await first.stop()
    await database.execute(anHour)
    const program = await Program.start(settings, database.folder, main)
    await jobsAreDone(database)
    return program
  }
  const program = isSince(version, "0.3.0") ? await later() : first
  await Promise.all([provider.stop(), upstream.stop()])
  return { ...filled, database, program }
}

/** Fills the server of a release, and keeps its database as a fixture. */
export const record = async (main: string, version: string, engine: Engine): Promise<void> => {
  const { database, program, removed, testCredentials } = await filledServer(main, version, engine)
  const described = await describe(program, version, testCredentials)
  await program.stop()
  const rows: Record<string, number> = {}
  for (const table of Object.keys(await columnsOf(database, engine))) {
    const [{ n = 0 } = {}]: ReadonlyArray<Json> = await database.all(`SELECT count(*) AS n FROM ${table}`)
    rows[table] = Number(n)
  }
  const actions = await database.all("SELECT action, count(*) AS n FROM audit_entries GROUP BY action ORDER BY action")
  const content: Content = {
    ...{ version, engine, testMasterKey, testCredentials, removed, ...described, rows },
    actions: Object.fromEntries(actions.map(({ action, n }): [string, number] => [String(action), Number(n)]))
  }
  keep({ content, database: await database.dump() })
  await database.drop()
}
