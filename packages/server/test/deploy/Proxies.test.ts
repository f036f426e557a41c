import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import type { IncomingHttpHeaders } from "node:http"
import { request } from "node:https"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../support/Port.js"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"

const deploy = (name: string) => readFileSync(new URL(`../../../../deploy/${name}`, import.meta.url), "utf8")

/** Whether a program of Debian's packages is on this machine; the tests that need it are skipped where it is not. */
const has = (program: string, ...args: ReadonlyArray<string>) =>
  process.platform === "linux" && spawnSync(program, args, { stdio: "ignore" }).status === 0

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Options {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** One request over TLS; the certificate is the test's own. */
const ask = (port: number, method: string, path: string, { body, headers = {} }: Options = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        servername: "localhost",
        rejectUnauthorized: false,
        headers: {
          host: `localhost:${port}`,
          ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
          ...headers
        }
      },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
        })
      }
    )
    // A body that is refused may meet a connection that is closed already.
    sent.on("error", reject)
    sent.end(body)
  })

const forged = { "x-real-ip": "203.0.113.9", "x-forwarded-for": "203.0.113.9, 198.51.100.1" }

/** Which address the server believes that the one who logs in comes from. */
const addressSeen = async (
  server: Program,
  email: string,
  call: (method: string, path: string, options: Options) => Promise<{ readonly status: number; readonly body: Json }>
) => {
  const code = await server.codeFor(email)
  const verified = await call("POST", "/api/auth/verify", { body: JSON.stringify({ email, code }), headers: forged })
  assert.strictEqual(verified.status, 200)
  const token: string = verified.body.token
  const sessions = await call("GET", "/api/auth/sessions", { headers: { ...forged, authorization: `Bearer ${token}` } })
  return String(sessions.body.data[0].ip_address)
}

/** A proxy of its own in front of a server of its own. */
abstract class Proxy {
  protected child: ChildProcess | undefined
  port = 0

  constructor(readonly server: Program) {}

  protected async launch(program: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) {
    const child = spawn(program, args, {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "ignore", "pipe"]
    })
    this.child = child
    let said = ""
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text))
    for (let tries = 0; tries < 200; tries++) {
      const answer = await this.ask("GET", "/health").catch(() => undefined)
      if (answer?.status === 200) return
      if (child.exitCode !== null) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.fail(`${program} does not pass requests on: ${said}`)
  }

  ask(method: string, path: string, options?: Options): Promise<Answer> {
    return ask(this.port, method, path, options)
  }

  async json(method: string, path: string, options?: Options) {
    const { body, status } = await this.ask(method, path, options)
    const text = body.toString()
    return { status, body: text === "" ? undefined : JSON.parse(text) }
  }

  async stop() {
    if (this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill()
      await once(this.child, "exit")
    }
    await this.server.remove()
  }
}

class Nginx extends Proxy {
  async start() {
    const folder = freshFolder()
    this.port = await freePort()
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")]
    const made = spawnSync("openssl", [
      ..."req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split(" "),
      ...["-keyout", key, "-out", certificate]
    ])
    assert.strictEqual(made.status, 0)
    const plainPort = await freePort()
    const site = deploy("nginx.conf")
      .replace("server 127.0.0.1:7100;", `server 127.0.0.1:${this.server.port};`)
      .replace("listen 80;", `listen 127.0.0.1:${plainPort};`)
      .replace("listen 443 ssl http2;", `listen 127.0.0.1:${this.port} ssl http2;`)
      .replace(/^ *listen \[::\].*\n/gm, "")
      .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
      .replace("/var/log/nginx/coffer.log", join(folder, "access.log"))
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
      .join("\n")
    writeFileSync(join(folder, "coffer.conf"), site)
    writeFileSync(
      join(folder, "nginx.conf"),
      `daemon off;\npid ${join(folder, "pid")};\nerror_log stderr;\nevents {}\n` +
        `http {\naccess_log off;\n${temporary}\ninclude ${join(folder, "coffer.conf")};\n}\n`
    )
    await this.launch("nginx", ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], {})
    return { folder, plainPort }
  }
}

class Caddy extends Proxy {
  async start() {
    const folder = freshFolder()
    this.port = await freePort()
    mkdirSync(join(folder, "home"))
    const options = `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n\n`
    writeFileSync(join(folder, "Caddyfile"), options + deploy("Caddyfile"))
    await this.launch("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], {
      HOME: join(folder, "home"),
      COFFER_HOST: `localhost:${this.port}`,
      COFFER_UPSTREAM: `127.0.0.1:${this.server.port}`
    })
  }
}

const direct =
  (server: Program) =>
  async (method: string, path: string, { body, headers = {} }: Options) => {
    const { body: answer, status } = await server.call(method, path, {
      headers,
      ...(body !== undefined && { raw: body })
    })
    return { status, body: answer }
  }

const common = (proxy: () => Proxy) => {
  it("says who the client is, whatever the client says of itself", async () => {
    const { server } = proxy()
    assert.strictEqual(await addressSeen(server, "control@example.com", direct(server)), "203.0.113.9")
    const through = (method: string, path: string, options: Options) => proxy().json(method, path, options)
    assert.strictEqual(await addressSeen(server, "ada@example.com", through), "127.0.0.1")
  })

  it("asks browsers to come by TLS alone, and does not say which version it is", async () => {
    const { headers } = await proxy().ask("GET", "/health")
    assert.strictEqual(headers["strict-transport-security"], "max-age=31536000")
    assert.notMatch(String(headers.server ?? ""), /\d/)
  })

  it("leaves errors, headers and paths as they are", async () => {
    const { body, headers, status } = await proxy().ask("GET", "/API/AUTH/login", {
      headers: { "x-request-id": "mine" }
    })
    assert.strictEqual(status, 404)
    assert.strictEqual(JSON.parse(body.toString()).error.code, "NOT_FOUND")
    assert.strictEqual(headers["x-request-id"], "mine")
    assert.strictEqual((await proxy().ask("GET", "/api/orgs//projects")).status, 404)
    assert.strictEqual((await proxy().ask("GET", "/api/orgs")).status, 401)
  })

  it("refuses a body larger than any that the server takes", async () => {
    const body = JSON.stringify({ set: { KEY: "x".repeat(18 * 1024 * 1024) } })
    const answer = await proxy()
      .ask("PATCH", "/api/orgs/acme/projects/webshop/envs/dev/bundle", { body })
      .catch(() => undefined)
    if (answer !== undefined) assert.include([401, 413], answer.status)
    assert.strictEqual((await proxy().ask("GET", "/health")).status, 200)
  })

  it("shows the page of the API with the server's policy for it", async () => {
    const { headers, status } = await proxy().ask("GET", "/docs")
    assert.strictEqual(status, 200)
    assert.match(String(headers["content-security-policy"]), /^default-src 'none'; script-src 'sha256-/)
  })
}

describe.skipIf(!has("nginx", "-v") || !has("openssl", "version"))(
  "deploy/nginx.conf (needs nginx and openssl)",
  () => {
    let nginx: Nginx
    let started: { readonly folder: string; readonly plainPort: number }

    beforeAll(async () => {
      nginx = new Nginx(await Program.start())
      started = await nginx.start()
    })
    afterAll(async () => {
      await nginx.stop()
      cleanUp()
    })

    common(() => nginx)

    it("sends who comes without TLS to where TLS is", async () => {
      const answer = await fetch(`http://127.0.0.1:${started.plainPort}/health`, { redirect: "manual" })
      assert.strictEqual(answer.status, 308)
      assert.match(answer.headers.get("location") ?? "", /^https:\/\/.*\/health$/)
    })

    it("limits logins from one address, with the envelope, and leaves the rest alone", async () => {
      const answers: Array<Answer> = []
      for (let attempt = 0; attempt < 40; attempt++) {
        const body = JSON.stringify({ email: `a${attempt}@example.com` })
        answers.push(await nginx.ask("POST", "/api/auth/login", { body }))
      }
      const refused = answers.filter(({ status }) => status === 429)
      assert.isAtLeast(refused.length, 10)
      assert.isAtLeast(answers.length - refused.length, 10)
      assert.strictEqual(JSON.parse(refused[0]!.body.toString()).error.code, "RATE_LIMITED")
      assert.strictEqual(refused[0]!.headers["retry-after"], "60")
      assert.strictEqual((await nginx.ask("GET", "/health")).status, 200)
    })

    it("writes no path into its log", () => {
      const log = readFileSync(join(started.folder, "access.log"), "utf8")
      assert.match(log, /^127\.0\.0\.1 \[\S+\] GET 200 [0-9.]+ [0-9a-f-]{36}$/m)
      assert.notMatch(log, /\/|webshop/)
    })
  }
)

describe.skipIf(!has("caddy", "version"))("deploy/Caddyfile (needs caddy)", () => {
  let caddy: Caddy

  beforeAll(async () => {
    caddy = new Caddy(await Program.start())
    await caddy.start()
  })
  afterAll(async () => {
    await caddy.stop()
    cleanUp()
  })

  common(() => caddy)

  it("compresses the documentation and nothing else", async () => {
    const gzip = { headers: { "accept-encoding": "gzip" } }
    const docs = await caddy.ask("GET", "/docs", gzip)
    assert.strictEqual(docs.headers["content-encoding"], "gzip")
    assert.isAbove(gunzipSync(docs.body).length, 3 * docs.body.length)
    assert.isUndefined((await caddy.ask("GET", "/api/orgs", gzip)).headers["content-encoding"])
  })

  it("is written as its own formatter writes it", () => {
    const { status } = spawnSync("caddy", ["fmt", "--diff", "-"], { input: deploy("Caddyfile") })
    assert.strictEqual(status, 0)
  })
})
