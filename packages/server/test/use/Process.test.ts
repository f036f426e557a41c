import { writeFileSync } from "node:fs"
import { join } from "node:path"
import Sqlite from "better-sqlite3"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { formsIn, mark } from "../canary/Marks.js"
import { type Certificate, certificateFor } from "../federations/Issuer.js"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"
import { Upstream } from "./Upstream.js"

// A server as a process, and an other side with a certificate that it trusts as an operator would say it.

const secret = `sk_live_${mark("value")}`
const prod = "/api/orgs/acme/projects/shop/envs/prod"

let certificate: Certificate
let upstream: Upstream

beforeAll(async () => {
  certificate = certificateFor("localhost")
  upstream = await Upstream.start(certificate)
})

afterAll(async () => {
  await upstream.stop()
  cleanUp()
})

const start = async () => {
  const folder = freshFolder()
  writeFileSync(join(folder, "ca.pem"), certificate.cert)
  const program = await Program.start(
    {
      SERVICE_BROKER: "1",
      SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
      NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
      SERVICE_LOG_LEVEL: "debug",
      SERVICE_METRICS_PORT: "0",
      SERVICE_AUDIT_STREAM: join(folder, "audit.jsonl")
    },
    folder
  )
  const token = await program.login("ada@example.com")
  const make = async (method: string, path: string, body: unknown): Promise<Json> => {
    const answer = await program.call(method, path, { token, body })
    assert.isBelow(answer.status, 300, answer.text)
    return answer.body
  }
  await make("POST", "/api/orgs", { name: "acme" })
  await make("POST", "/api/orgs/acme/projects", { name: "shop" })
  const { api_key, id } = await make("POST", "/api/orgs/acme/service-accounts", { name: "agent", reveal: false })
  const subject = { subject_type: "service_account", subject_id: id, permission: "use" }
  await make("POST", "/api/orgs/acme/acl", { ...subject, project_pattern: "*", env_pattern: "*" })
  await make("PUT", `${prod}/secrets/API_KEY`, { value: secret })
  const rule = await make("POST", `${prod}/secrets/API_KEY/use-rules`, {
    hosts: [`localhost:${upstream.port}`],
    paths: ["/v1/*"],
    methods: ["GET", "POST"],
    place: { in: "header", name: "authorization", format: "Bearer {}" },
    accounts: ["agent"]
  })
  const use = (path: string, more: object = {}) =>
    program.call("POST", `${prod}/use`, {
      headers: { "x-api-key": api_key },
      body: { method: "GET", url: `https://localhost:${upstream.port}${path}`, secrets: ["API_KEY"], ...more }
    })
  return { program, make, use, rule }
}

describe("a server that makes requests with secrets", () => {
  it("says the value nowhere: not in answers, errors, logs, audit rows or metrics", async () => {
    const { program, use } = await start()
    const [, metrics = ""] = await program.said(/metrics are at (\S+\/metrics)/)
    const answers = [await use("/v1/a"), await use("/v1/b", { method: "POST", body: "x" }), await use("/v2")]
    upstream.answer = (response) => response.end(Buffer.from(Buffer.from(secret).toString("base64")).toString("base64"))
    answers.push(await use("/v1/twice"))
    upstream.answer = (response) => response.destroy()
    answers.push(await use("/v1/cut"))
    upstream.answer = (response, { headers }) => response.end(JSON.stringify(headers))
    answers.push(await use("/v1/headers"))
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 200, 403, 502, 502, 200]
    )
    assert.isTrue(upstream.arrived.every(({ headers }) => headers.authorization === `Bearer ${secret}`))
    const page = await (await fetch(metrics)).text()
    assert.match(page, /^coffer_uses_total 5$/m)
    assert.match(page, /^coffer_use_refusals_total 1$/m)
    assert.match(page, /^coffer_use_upstream_failures_total 2$/m)
    await program.stop()
    const database = new Sqlite(program.file(), { readonly: true })
    const rows = database.prepare("SELECT * FROM audit_entries").all()
    database.close()
    const all = [...answers.map(({ text }) => text), program.log, page, JSON.stringify(rows)].join("\n")
    assert.deepStrictEqual(formsIn(Buffer.from(all), secret), [])
  })

  it("has the entry of a request whose answer it did not live to see", async () => {
    const { program, use } = await start()
    const arrived = new Promise<void>((resolve) => {
      upstream.answer = () => {
        resolve()
      }
    })
    const answer = use("/v1/slow").catch(() => undefined)
    await arrived
    await program.stop("SIGKILL")
    await answer
    const database = new Sqlite(program.file(), { readonly: true })
    const actions = database.prepare("SELECT action FROM audit_entries WHERE action LIKE 'secret.%'").pluck().all()
    database.close()
    assert.deepStrictEqual(actions, ["secret.set", "secret.use"])
  })
})
