import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { request } from "node:https"
import { connect as connectPlain, type Socket } from "node:net"
import { connect, type ConnectionOptions } from "node:tls"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parseExposition, valueOf } from "../observability/Exposition.js"
import { hasOpenssl, makeCertificate, type TestCertificate } from "../support/Certificates.js"
import { cleanUp, freshFolder, type Json, masterKey, parseRaw, Program } from "../support/Program.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
const dockerfile = readFileSync(new URL("../../../../deploy/Dockerfile", import.meta.url), "utf8")

let program: Program
let certificate: TestCertificate
let settings: Record<string, string>

beforeAll(async () => {
  if (!hasOpenssl) return
  certificate = makeCertificate(freshFolder(), "tls")
  settings = {
    SERVICE_TLS_CERT_FILE: certificate.certFile,
    SERVICE_TLS_KEY_FILE: certificate.keyFile,
    SERVICE_VAULT_API: "1",
    SERVICE_METRICS_PORT: "0"
  }
  program = await Program.start(settings)
})
afterAll(cleanUp)

const call = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  new Promise<{ readonly status: number; readonly headers: NodeJS.Dict<string | Array<string>> }>((resolve, reject) => {
    const { port } = program
    const sent = { ...headers, ...(body !== undefined && { "content-type": "application/json" }) }
    request({ port, host: "127.0.0.1", path, method, headers: sent, ca: certificate.pem, agent: false }, (response) => {
      response.resume().once("end", () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers })
      })
    })
      .on("error", reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })

const closed = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.once("close", () => {
      resolve()
    })
  })

/** Sends bytes over TLS, and returns what comes back until the connection is closed. */
const exchange = async (bytes: string, options: ConnectionOptions = {}): Promise<string> => {
  const socket = connect({ port: program.port, host: "127.0.0.1", ca: certificate.pem, ...options })
  let text = ""
  socket.on("data", (data: Buffer) => (text += data.toString("latin1")))
  socket.once("error", (error) => (text = error.message))
  socket.write(bytes)
  await closed(socket)
  return text
}

const get = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

/** Runs the container's check of health, and returns its exit code. */
const healthCheck = async (variables: Readonly<Record<string, string>>): Promise<number | null> => {
  const [, command = ""] = /^HEALTHCHECK .*\n +CMD (\[.*\])$/m.exec(dockerfile) ?? []
  const [, ...words]: ReadonlyArray<string> = JSON.parse(command)
  const child = spawn(process.execPath, words, { env: { SERVICE_PORT: String(program.port), ...variables } })
  const [code] = await once(child, "close")
  return typeof code === "number" ? code : null
}

describe.skipIf(!hasOpenssl)("a server with a certificate (needs openssl)", () => {
  it("speaks HTTPS alone, with TLS 1.3, and sets cookies that browsers send back over https alone", async () => {
    await program.said(/listening on https:\/\/127\.0\.0\.1:\d+/)
    const health = await call("GET", "/health")
    assert.strictEqual(health.status, 200)
    assert.strictEqual(health.headers["strict-transport-security"], "max-age=31536000")
    assert.match(await exchange(get, { maxVersion: "TLSv1.2" }), /version/)

    await call("POST", "/api/auth/login", { email: "ada@example.com" })
    const [, code = ""] = await program.said(/login code for ada@example\.com: (\d{6})/)
    const browser = { "x-coffer": "1", "sec-fetch-site": "same-origin" }
    const login = { email: "ada@example.com", code, session: "cookie" }
    const { headers, status } = await call("POST", "/api/auth/verify", login, browser)
    assert.strictEqual(status, 204)
    assert.match(String(headers["set-cookie"]), /^__Host-coffer=(?=.*; HttpOnly)(?=.*; Secure)/)

    const plain = connectPlain(program.port, "127.0.0.1")
    plain.write(get)
    let said = ""
    plain.on("data", (data: Buffer) => (said += data.toString("latin1"))).on("error", () => undefined)
    await closed(plain)
    assert.notMatch(said, /HTTP/)
  })

  it("reads what Node's parser does not know, and refuses what is malformed, as without TLS", async () => {
    const list = parseRaw(await exchange("LIST /v1/secret/metadata/web HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    assert.strictEqual(list.status, 403, list.text)
    assert.strictEqual(parseRaw(await exchange("GET / HTTP/1.1\r\nbad header\r\n\r\n")).status, 400)
  })

  it("is healthy for the container's check, which knows from the settings how to ask", async () => {
    assert.strictEqual(await healthCheck(settings), 0)
    assert.strictEqual(await healthCheck({}), 1)
  })

  it("tells in its metrics and in the check how long the certificate is valid", async () => {
    const [, page = ""] = await program.said(/metrics are at (http:[^"\s]+)/)
    const samples = parseExposition(await (await fetch(page)).text())
    const left = valueOf(samples, "coffer_tls_certificate_expiry_seconds") ?? 0
    assert.isTrue(left > 9.9 * 86_400 && left <= 10 * 86_400, String(left))

    const checked = (variables: Readonly<Record<string, string>>) => {
      const env = { SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log", ...settings, ...variables }
      const { stdout } = spawnSync(process.execPath, [bin, "check", "--json"], {
        cwd: program.folder,
        env,
        encoding: "utf8"
      })
      const report: Json = JSON.parse(stdout)
      return report.checks.find(({ name }: Json) => name === "tls")
    }
    const near = checked({ SERVICE_PUBLIC_URL: `https://localhost:${program.port}` })
    assert.strictEqual(near.status, "warning")
    assert.match(near.message, /^the certificate is valid until 20\S+Z \(\d+ days\)$/)
    assert.match(checked({ SERVICE_PUBLIC_URL: "https://coffer.example.com" }).message, /is not for coffer\./)
    assert.strictEqual(checked({ SERVICE_TLS_KEY_FILE: certificate.certFile }).status, "failed")
  })

  it("does not start with a certificate that it cannot use, and ends while a connection is still negotiated", async () => {
    const other = makeCertificate(freshFolder(), "other")
    const { code, log } = await Program.refused({ ...settings, SERVICE_TLS_KEY_FILE: other.keyFile })
    assert.strictEqual(code, 1)
    assert.match(log, /coffer-server: the key of SERVICE_TLS_KEY_FILE does not belong to the first certificate/)

    const silent = connectPlain(program.port, "127.0.0.1").on("error", () => undefined)
    await once(silent, "connect")
    assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })
  })
})
