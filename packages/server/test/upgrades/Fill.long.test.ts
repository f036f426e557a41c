/** The fixture that a release keeps for later ones has every kind of its records: each migration meets all of them. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, it } from "vitest"
import { cleanUp, type Json } from "../support/Program.js"
import { filledServer } from "./Record.js"
import { columnsOf, emptyIn } from "./Rows.js"

afterAll(cleanUp)

/** Why nothing fills a table or a column. */
const empty: Readonly<Record<string, string>> = {
  freed_names: "names of protected places that changed, which the filling does not change",
  "request_votes.comment": "a comment is optional",
  instances: "servers on PostgreSQL alone",
  jobs: "servers on PostgreSQL alone",
  "requests.key_id": "no server writes it",
  restores: "a database that was restored",
  stream_places: "servers on PostgreSQL alone",
  "webhook_deliveries.next_at": "a delivery that waits would be tried when a later release is tested",
  "webhook_deliveries.reason": "a delivery that failed is tried again until its webhook has failed",
  "webhooks.failed_at": "a day of failures"
}

it("nothing of today's server stays empty in what is recorded of it, but for what is named here", async () => {
  const main = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
  const { version }: Json = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  const { database, program } = await filledServer(main, version, "sqlite")
  await program.stop()
  assert.deepStrictEqual(await emptyIn(database, await columnsOf(database, "sqlite")), Object.keys(empty).sort())
  await database.drop()
})
