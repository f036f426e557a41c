import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { createServer as createHttp, request, type RequestListener, type Server } from "node:http"
import { createServer as createHttps } from "node:https"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import type { RunOptions } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const fronts: Array<Server> = []
afterAll(() => fronts.forEach((front) => front.close()))

interface Finding {
  readonly check: string
  readonly state: string
  readonly message: string
}

const doctor = async (args: ReadonlyArray<string>, options: RunOptions = {}) => {
  const { code, stderr, stdout } = await place.home.coffer(["doctor", "--json", ...args], options)
  const findings: ReadonlyArray<Finding> = JSON.parse(stdout).data
  const of = (check: string) => {
    const found = findings.find((finding) => finding.check === check)
    return found === undefined ? undefined : `${found.state}: ${found.message}`
  }
  return { code, stderr, of, all: stdout }
}

/** Hands requests on to the server, and changes the date of the answer. */
const forward =
  (seconds = 0): RequestListener =>
  (incoming, response) => {
    const outgoing = request(place.server.url + (incoming.url ?? ""), { headers: incoming.headers }, (answer) => {
      const date = new Date(Date.now() + seconds * 1000).toUTCString()
      response.writeHead(answer.statusCode ?? 0, { ...answer.headers, date })
      answer.pipe(response)
    })
    incoming.pipe(outgoing)
  }

const listen = async (front: Server) => {
  fronts.push(front)
  front.listen(0, "127.0.0.1")
  await once(front, "listening")
  const address = front.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** A server behind TLS with a certificate that signs itself. Returns its address and the file of the certificate. */
const behindTls = async (days: number) => {
  const file = (name: string) => join(place.home.folder, `${days}-${name}`)
  const subject = ["-subj", "/CN=coffer.test", "-addext", "subjectAltName=DNS:localhost"]
  const lasting = ["-days", String(days), "-keyout", file("key.pem"), "-out", file("cert.pem")]
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...lasting], {
    stdio: "ignore"
  })
  const tls = { key: readFileSync(file("key.pem")), cert: readFileSync(file("cert.pem")) }
  const port = await listen(createHttps(tls, forward()))
  return { url: `https://localhost:${port}`, certificate: file("cert.pem") }
}

describe("coffer doctor", () => {
  it("says for each check that all is well, and where each setting comes from", async () => {
    const { code, of, stderr } = await doctor(["--env", "staging"], { env: { SERVICE_PROJECT: "webshop" } })
    assert.strictEqual(code, 0, stderr)
    assert.match(of("client") ?? "", /^ok: coffer \S+ on Node v\d+/)
    assert.strictEqual(of("server_url"), `ok: ${place.server.url} (SERVICE_SERVER_URL)`)
    assert.strictEqual(of("org"), "ok: acme (service.yml, line 2, org)")
    assert.strictEqual(of("project"), "ok: webshop (SERVICE_PROJECT)")
    assert.strictEqual(of("env"), "ok: staging (--env)")
    assert.strictEqual(of("service.yml"), `ok: ${join(place.home.folder, "service.yml")}`)
    assert.match(of("connection") ?? "", /^ok: http:\/\/127\.0\.0\.1:\d+ answers in \d+ ms$/)
    assert.match(of("server") ?? "", /^ok: coffer \d/)
    assert.strictEqual(of("clock"), "ok: the same as the server's")
    assert.strictEqual(of("certificate"), "ok: none: clear text, which does not leave this machine")
    assert.strictEqual(of("proxy"), "ok: not set")
    assert.match(of("session file") ?? "", /^ok: .*session can be read by you alone$/)
    assert.strictEqual(of("credential"), "ok: a session of ada@example.com")
    assert.match(of("rights") ?? "", /^ok: use, read, write, admin in acme\/webshop\/staging$/)
  })

  it("prints a line for each check, for people and for awk", async () => {
    const { stdout } = await place.ok("doctor")
    for (const line of stdout.trimEnd().split("\n")) assert.match(line, /^(ok|warning)\t[a-z_. ]+\t\S/)
  })

  it("warns of what is missing, and asks for no rights then", async () => {
    const { code, of } = await doctor([], { cwd: "/" })
    assert.strictEqual(code, 0)
    assert.match(of("org") ?? "", /^warning: no organization is given: pass --org, set SERVICE_ORG/)
    assert.match(of("rights") ?? "", /^warning: not asked for/)
  })

  it("says that a session has ended, and what begins another one", async () => {
    const session = readFileSync(place.home.session, "utf8")
    writeFileSync(place.home.session, session.replace(/svc_st_\w+/, `svc_st_${"x".repeat(49)}`))
    const { code, of } = await doctor([])
    writeFileSync(place.home.session, session)
    assert.strictEqual(code, 1)
    assert.strictEqual(of("credential"), "problem: your session at the server has ended; run coffer login")
  })

  it("names the problem with a credential, ends with 1, and shows no secret", async () => {
    const secret = `svc_sa_${"x".repeat(49)}`
    const { all, code, of, stderr } = await doctor([], {
      env: { SERVICE_API_KEY: secret, HTTP_PROXY: "http://ada:s3cret@proxy.example:3128" }
    })
    assert.deepStrictEqual([code, stderr], [1, `{"error":{"code":"FAILED","message":"doctor found a problem"}}\n`])
    assert.match(of("credential") ?? "", /^problem: .*SERVICE_API_KEY/)
    assert.strictEqual(of("proxy"), "ok: HTTP_PROXY is not used for a server on this machine")
    const session = readFileSync(place.home.session, "utf8")
    const token = /svc_st_\w+/.exec(session)?.[0] ?? assert.fail("no token")
    for (const hidden of [secret, "s3cret", token]) assert.notInclude(all, hidden)
  })

  it("names an account without rights, and what to do", async () => {
    const key = (await place.prints("service-account", "create", "idle")).trim()
    const { code, of } = await doctor([], { env: { SERVICE_API_KEY: key } })
    assert.strictEqual(code, 1)
    assert.strictEqual(
      of("credential"),
      "ok: an API key (SERVICE_API_KEY, which goes before your session) of the service account idle of acme"
    )
    assert.strictEqual(
      of("rights"),
      "problem: none in acme/webshop/dev; ask an administrator of acme for coffer acl grant"
    )
  })

  it("names files that others can read, and a wrong service.yml", async () => {
    const session = place.home.session
    chmodSync(session, 0o644)
    const open = await doctor([])
    chmodSync(session, 0o600)
    assert.strictEqual(open.of("session file"), `problem: ${session} can be read by others; run: chmod 600 ${session}`)

    const file = join(place.home.folder, "service.yml")
    const source = readFileSync(file, "utf8")
    writeFileSync(file, `${source}allow_env: [PATH]\n`)
    const untrusted = await doctor([])
    writeFileSync(file, "organisation: acme\n")
    const wrong = await doctor([])
    writeFileSync(file, source)
    assert.match(
      untrusted.of("service.yml") ?? "",
      /^warning: PATH: .* is not trusted; read it, then run: coffer trust$/
    )
    assert.match(wrong.of("service.yml") ?? "", /^problem: .*line 1: "organisation" is not a key/)
    assert.strictEqual(wrong.code, 1)
  })

  it.each([
    [-3600, "ahead of"],
    [3600, "behind"]
  ])("measures the clock against a server whose clock is %d s off", async (seconds, word) => {
    const port = await listen(createHttp(forward(seconds)))
    const { of } = await doctor(["--server-url", `http://127.0.0.1:${port}`])
    assert.match(of("clock") ?? "", new RegExp(`^warning: this machine's clock is 3[56]\\d\\d s ${word} the server's;`))
  })

  it("says what is wrong with a certificate, and when it ends", async () => {
    const tls = await behindTls(400)
    const stranger = await doctor(["--server-url", tls.url])
    assert.strictEqual(stranger.code, 1)
    assert.match(
      stranger.of("certificate") ?? "",
      /^problem: coffer\.test, issued by coffer\.test, valid until \d{4}-\d\d-\d\d; its certificate is self-signed; name its authority in NODE_EXTRA_CA_CERTS$/
    )
    assert.match(stranger.of("connection") ?? "", /^problem: cannot reach .*self-signed/)
    const known = await doctor(["--server-url", tls.url], { env: { NODE_EXTRA_CA_CERTS: tls.certificate } })
    assert.match(known.of("certificate") ?? "", /^ok: coffer\.test, issued by/)
    const ending = await behindTls(3)
    const soon = await doctor(["--server-url", ending.url], { env: { NODE_EXTRA_CA_CERTS: ending.certificate } })
    assert.match(
      soon.of("certificate") ?? "",
      /^warning: .*, for [23] more days; the operator of the server must renew it$/
    )
  })

  it("says that nothing answers, and asks nothing further", async () => {
    const { code, of } = await doctor(["--server-url", "http://127.0.0.1:1"])
    assert.strictEqual(code, 1)
    assert.match(of("connection") ?? "", /^problem: cannot reach http:\/\/127\.0\.0\.1:1: connection refused; /)
    assert.isUndefined(of("credential"))
  })
})
