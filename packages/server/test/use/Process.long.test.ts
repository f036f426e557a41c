import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import Sqlite from "better-sqlite3"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { formsIn, mark } from "../canary/Marks.js"
import { type Certificate, certificateFor } from "../federations/Issuer.js"
import { parseExposition, valueOf } from "../observability/Exposition.js"
import { Receiver } from "../observability/Receiver.js"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"
import { Upstream } from "./Upstream.js"

// A server as a process, and an other side with a certificate that it trusts as an operator would say it.

const secret = `sk_live_${mark("value")}`
const prod = "/api/orgs/acme/projects/shop/envs/prod"

let certificate: Certificate
let upstream: Upstream
let receiver: Receiver

beforeAll(async () => {
  certificate = certificateFor("localhost")
  upstream = await Upstream.start(certificate)
  receiver = await Receiver.start()
})

afterAll(async () => {
  await upstream.stop()
  receiver.close()
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
      NODE_OPTIONS: `--report-on-signal --report-directory=${folder}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      SERVICE_LOG_LEVEL: "debug",
      SERVICE_METRICS_PORT: "0",
      SERVICE_AUDIT_STREAM: join(folder, "audit.jsonl")
    },
    folder
  )
  const token = await program.login("ada@example.com")
  const make = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await program.call(method, path, { token, body })
    assert.isBelow(answer.status, 300, answer.text)
    return answer.body
  }
  await make("POST", "/api/orgs", { name: "acme" })
  await make("POST", "/api/orgs/acme/projects", { name: "shop" })
  const { api_key, id } = await make("POST", "/api/orgs/acme/service-accounts", { name: "agent", reveal: false })
  const subject = { subject_type: "service_account", subject_id: id, permission: "use" }
  const allow = () => make("POST", "/api/orgs/acme/acl", { ...subject, project_pattern: "*", env_pattern: "*" })
  const { id: access } = await allow()
  await make("PUT", `${prod}/secrets/API_KEY`, { value: secret })
  const rule = {
    hosts: [`localhost:${upstream.port}`],
    methods: ["GET", "POST"],
    accounts: ["agent"],
    max_kib: 16,
    per_minute: 40
  }
  const header = { in: "header", name: "authorization", format: "Bearer {}" }
  await make("POST", `${prod}/secrets/API_KEY/use-rules`, { ...rule, paths: ["/v1/*"], place: header })
  const query = { in: "query", name: "key" }
  await make("POST", `${prod}/secrets/API_KEY/use-rules`, { ...rule, paths: ["/q/*"], place: query })
  await make("POST", `${prod}/secrets/API_KEY/use-rules`, { ...rule, paths: ["/e/*"], place: header, approval: "each" })
  await make("POST", `${prod}/secrets/API_KEY/use-rules`, { ...rule, paths: ["/once"], place: header, per_day: 1 })
  const use = (path: string, more: object = {}) =>
    program.call("POST", `${prod}/use`, {
      headers: { "x-api-key": api_key },
      body: { method: "GET", url: `https://localhost:${upstream.port}${path}`, secrets: ["API_KEY"], ...more }
    })
  return { program, folder, make, use, access, allow }
}

const base64 = (text: string) => Buffer.from(text).toString("base64")

/** Sends the pieces of an answer apart. */
const inPieces = (pieces: ReadonlyArray<string>): Upstream["answer"] => {
  return (response) => {
    const next = (index: number) => {
      const piece = pieces[index]
      if (piece === undefined) response.end()
      else response.write(piece, () => setTimeout(next, 1, index + 1))
    }
    next(0)
  }
}

const sent =
  (text: string | Buffer, headers: Readonly<Record<string, string>> = {}, status = 200): Upstream["answer"] =>
  (response) =>
    response.writeHead(status, headers).end(text)

/** The ways in which an upstream may reflect the value, with the status of the use. */
const reflections: ReadonlyArray<readonly [what: string, status: number, answer: Upstream["answer"], path?: string]> = [
  ["echoes the header", 200, (response, { headers }) => response.end(JSON.stringify(headers))],
  ["echoes the query", 200, (response, { url }) => response.end(url), "/q/x?a=1"],
  ["returns base64", 200, sent([secret, `x${secret}`, `xy${secret}`].map(base64).join(" "))],
  ["compresses it", 200, sent(gzipSync(`a ${secret}`), { "content-encoding": "gzip" })],
  ["splits it into chunks", 200, inPieces(["a ", ...secret, " b"])],
  ["splits its base64 into chunks", 200, inPieces([...base64(`x${secret}`)])],
  ["shows an error page", 200, sent(`<h1>500</h1><pre>Bearer ${secret}</pre>`, { "content-type": "text/html" }, 500)],
  ["escapes it", 200, sent(JSON.stringify({ a: JSON.stringify({ b: `"${secret}"` }) }))],
  ["redirects with it", 200, sent("", { location: `https://x.test/?k=${secret}`, "set-cookie": `k=${secret}` }, 302)],
  ["is too long", 200, sent(`${"-".repeat(16_380)}${secret}${"-".repeat(500_000)}`)],
  ["never ends", 200, (response) => void setInterval(() => response.write(secret.repeat(1_000)), 1).unref()],
  ["is encoded twice", 502, sent(base64(base64(secret)))],
  ["is compressed in an unknown way", 502, sent(secret, { "content-encoding": "zstd" })],
  ["breaks off after it", 502, (response) => response.write(secret, () => response.destroy())],
  ["says 100 first", 502, (response) => response.socket?.end(`HTTP/1.1 100 Continue\r\nX: ${secret}\r\n\r\n`)],
  ["says 103 first", 200, (response) => response.writeEarlyHints({ link: `<${secret}>` }, () => response.end("ok"))],
  ["is no HTTP", 502, (response) => response.socket?.end(`${secret}\r\n\r\n`)],
  ["hides it in the reason", 502, (response) => response.writeHead(200, secret).destroy()]
]

describe("a server that makes requests with secrets", () => {
  it("says the value nowhere: not in answers, errors, logs, traces, reports, audit rows or metrics", async () => {
    const { folder, program, use } = await start()
    const [, metrics = ""] = await program.said(/metrics are at (\S+\/metrics)/)
    const answers = [await use("/v2"), await use("/v1/x", { headers: { host: secret } }), await use("/e/1")]
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [403, 403, 409]
    )
    for (const [what, status, answer, path] of reflections) {
      upstream.answer = answer
      const used = await use(path ?? "/v1/x")
      assert.strictEqual(used.status, status, `${what}: ${used.text}`)
      answers.push(used)
    }
    assert.strictEqual(upstream.arrived.length, reflections.length)
    for (const { headers, url } of upstream.arrived) assert.include(`${url} ${headers.authorization}`, secret)

    // A report of a crash, while the value is on its way.
    const arrived = new Promise<void>((resolve) => {
      upstream.answer = () => {
        resolve()
      }
    })
    const waiting = use("/v1/slow").catch(() => undefined)
    await arrived
    program.signal("SIGUSR2")
    const reports = () => readdirSync(folder).filter((name) => name.startsWith("report."))
    while (reports().every((name) => !readFileSync(join(folder, name), "utf8").trimEnd().endsWith("}"))) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const page = await (await fetch(metrics)).text()
    upstream.server.closeAllConnections()
    await waiting
    await program.stop()

    const samples = parseExposition(page)
    assert.strictEqual(valueOf(samples, "coffer_uses_total"), reflections.length + 1)
    for (const [reason, count] of Object.entries({ rule: 1, request: 1, approval: 1, budget: 0, concurrency: 0 })) {
      assert.strictEqual(valueOf(samples, "coffer_use_refusals_total", { reason }), count, reason)
    }
    for (const [reason, count] of Object.entries({ value: 1, encoding: 1, connection: 4, timeout: 0 })) {
      assert.strictEqual(valueOf(samples, "coffer_use_upstream_failures_total", { reason }), count, reason)
    }
    const database = new Sqlite(program.file(), { readonly: true })
    const rows = database.prepare("SELECT * FROM audit_entries").all()
    database.close()
    const files = ["audit.jsonl", ...reports()].map((name) => readFileSync(join(folder, name), "utf8"))
    assert.include(receiver.text, "Uses.use")
    const all = [...answers.map(({ text }) => text), program.log, page, receiver.text, JSON.stringify(rows), ...files]
    for (const text of all) assert.deepStrictEqual(formsIn(Buffer.from(text), secret), [])
    assertNoAlarm(page)
  })

  it("refuses the next use once the access rule is gone, and has the entry of one whose answer it did not live to see", async () => {
    const { access, allow, make, program, use } = await start()
    upstream.answer = sent("ok")
    assert.strictEqual((await use("/v1/a")).status, 200)
    await make("DELETE", `/api/orgs/acme/acl/${access}`)
    const before = upstream.arrived.length
    assert.strictEqual((await use("/v1/a")).body.error.code, "FORBIDDEN")
    assert.strictEqual(upstream.arrived.length, before)
    await allow()
    assert.strictEqual((await use("/once")).status, 200)
    const spent = await use("/once")
    assert.strictEqual(spent.body.error.code, "USE_BUDGET")
    assert.isAtLeast(Number(spent.headers.get("retry-after")), 1)

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
    const actions = database
      .prepare("SELECT action FROM audit_entries WHERE action LIKE 'secret.%' ORDER BY seq")
      .pluck()
      .all()
    database.close()
    // The entry of an answer is written within 50 ms, maybe after that of the next use.
    assert.sameMembers(actions, [
      "secret.set",
      "secret.use",
      "secret.answer",
      "secret.use",
      "secret.answer",
      "secret.use"
    ])
  })
})

/** The alarms for errors and slow answers do not look at what other sides make slow or fail. */
const assertNoAlarm = (page: string): void => {
  const text = readFileSync(new URL("../../../../deploy/alerts.yaml", import.meta.url), "utf8")
  const rules: ReadonlyArray<Json> = parse(text).groups.flatMap(({ rules }: Json) => rules)
  const samples = parseExposition(page).filter(({ labels }) => labels["route"]?.endsWith("/use"))
  assert.isTrue(samples.some(({ labels }) => labels["status"] === "502"))
  const selectors = ["CofferErrors", "CofferSlow"].flatMap((name) => {
    const { expr } = rules.find(({ alert }) => alert === name)
    return [...String(expr).matchAll(/(coffer_\w+)\{([^}]*)\}/g)]
  })
  assert.strictEqual(selectors.length, 3)
  for (const [selector, name, matchers = ""] of selectors) {
    const wanted = [...matchers.matchAll(/(\w+)(=~|!~|=|!=)"([^"]*)"/g)]
    const selected = samples.filter(
      (sample) =>
        sample.name === name &&
        wanted.every(([, label = "", operator = "", pattern = ""]) => {
          const value = sample.labels[label] ?? ""
          const fits = operator.includes("~") ? new RegExp(`^(?:${pattern})$`).test(value) : value === pattern
          return operator.startsWith("!") ? !fits : fits
        })
    )
    assert.deepStrictEqual(selected, [], selector)
  }
}
