import { connect } from "@coffer/client/promise"
import { chmodSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Agent, clearAway } from "../../../mcp/test/support/Agent.js"
import { Gate } from "../support/Gate.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const id = "1f2e3d.access"
const secret = "hunter2-of-the-gate"
let gate: Gate
let key: string

beforeAll(async () => {
  gate = await Gate.before(place.server.url, id, secret)
  const { token } = place.home
  const call = (path: string, body: object) => place.server.call("POST", `/api/orgs/acme/${path}`, { token, body })
  const account = await call("service-accounts", { name: "shop" })
  key = account.api_key
  const rule = { subject_type: "service_account", subject_id: account.id, permission: "read" }
  await call("acl", { ...rule, project_pattern: "*", env_pattern: "*" })
  await place.ok("secret", "set", "GREETING", "hello")
})
afterAll(async () => {
  gate.close()
  await clearAway()
})

const file = () => join(place.home.folder, "headers")
const writeHeaders = (value = secret, mode = 0o600) => {
  rmSync(file(), { force: true })
  writeFileSync(file(), `# of the gate\n\nCF-Access-Client-Id: ${id}\r\ncf-access-client-secret:${value}  \n`)
  chmodSync(file(), mode)
}
const byVariables = { SERVICE_HEADER_CF_ACCESS_CLIENT_ID: id, SERVICE_HEADER_CF_ACCESS_CLIENT_SECRET: secret }
const through = (more: Record<string, string> = {}) => ({ SERVICE_SERVER_URL: gate.url, SERVICE_API_KEY: key, ...more })

const messageOf = (failing: Promise<unknown>): Promise<string> =>
  failing.then(
    () => "",
    (cause: unknown) => String(cause)
  )

describe("headers for what is before the server", () => {
  it("take the command line through a proxy that wants two, in all its programs, and are shown by no program", async () => {
    writeHeaders()
    const shut = await place.home.coffer(["secret", "get", "GREETING"], { env: through() })
    assert.strictEqual(shut.code, 1)
    assert.match(shut.stderr, /answered 302, a redirect to http:\/\/127\.0\.0\.1:\d+, which is not followed/)
    for (const headers of [{ SERVICE_HEADERS_FILE: file() }, byVariables]) {
      const env = through(headers)
      const get = await place.home.coffer(["secret", "get", "GREETING"], { env })
      assert.deepInclude(get, { code: 0, stdout: "hello" }, get.stderr)
      const list = await place.home.coffer(["secret", "list"], { env })
      assert.include(list.stdout, "GREETING", list.stderr)
      const run = await place.home.coffer(["run", "--", "env"], { env })
      assert.include(run.stdout, "GREETING=hello", run.stderr)
      assert.notInclude(run.stdout, "SERVICE_HEADER")
      const doctor = await place.home.coffer(["doctor"], { env })
      assert.match(doctor.stdout, /^ok\theaders\tcf-access-client-id: \*\*\*, cf-access-client-secret: \*\*\*$/m)
      assert.match(doctor.stdout, /^ok\tconnection\t/m)
      assert.notInclude(doctor.stdout + doctor.stderr + run.stdout, secret)
    }
    assert.isNotEmpty(gate.admitted)
    // Nothing went after the redirect.
    assert.deepStrictEqual(gate.elsewhere, [])
  })

  it("take the tool server and an application through it, which read the file again for each request", async () => {
    writeHeaders()
    const agent = await Agent.start(through({ SERVICE_HEADERS_FILE: file() }))
    const at = { org: "acme", project: "webshop", env: "dev" }
    assert.include(JSON.stringify(await agent.client.callTool({ name: "secret_list", arguments: at })), "GREETING")
    const variable = process.env["SERVICE_HEADERS_FILE"]
    process.env["SERVICE_HEADERS_FILE"] = file()
    try {
      const options = { server: gate.url, place: "acme/webshop/dev", credential: { apiKey: key } }
      const coffer = await connect(options)
      assert.strictEqual(coffer.get("GREETING"), "hello")
      writeHeaders("another token")
      assert.match(await messageOf(coffer.refresh()), /answered 302/)
      assert.include(JSON.stringify(await agent.client.callTool({ name: "secret_list", arguments: at })), "302")
      writeHeaders()
      await coffer.refresh()
      await coffer.close()
      // The sentence for a wrong file, from each of them.
      writeHeaders(secret, 0o640)
      const says = new RegExp(`SERVICE_HEADERS_FILE: ${file()} can be read by others; run: chmod 600`)
      assert.match(JSON.stringify(await agent.client.callTool({ name: "secret_list", arguments: at })), says)
      assert.match(await messageOf(connect(options)), says)
    } finally {
      if (variable === undefined) delete process.env["SERVICE_HEADERS_FILE"]
      else process.env["SERVICE_HEADERS_FILE"] = variable
    }
  })
})
