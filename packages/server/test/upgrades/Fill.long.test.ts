/** The fixture that a release keeps for later ones has every kind of its records: each migration meets all of them. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, it } from "vitest"
import { cleanUp, type Json } from "../support/Program.js"
import { empty } from "./Empty.js"
import { filledServer } from "./Record.js"
import { columnsOf, emptyIn } from "./Rows.js"

afterAll(cleanUp)

it("nothing of today's server stays empty in what is recorded of it, but for what is named here", async () => {
  const main = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
  const { version }: Json = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  const { database, program } = await filledServer(main, version, "sqlite")
  await program.stop()
  assert.deepStrictEqual(await emptyIn(database, await columnsOf(database, "sqlite")), Object.keys(empty).sort())
  await database.drop()
})
