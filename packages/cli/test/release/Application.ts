/** The program that runs the examples in an application's folder, against a server of its own. */
import { startTestServer } from "@coffer/client/testing"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"

const server = await startTestServer({ dev: { DATABASE_URL: "postgres://app@db.internal/shop" } })
const env = { SERVICE_API_KEY: server.apiKey, SERVICE_SERVER_URL: server.url, COFFER_PLACE: server.place }
for (const example of ["effect", "promise"]) {
  const program = join(import.meta.dirname, example, "main.js")
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  process.stdout.write(`${example}: ${stdout}`)
}
await server.close()
