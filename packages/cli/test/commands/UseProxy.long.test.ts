import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer, request as requestHttp } from "node:http"
import { createServer as createSecureServer, type Server as SecureServer } from "node:https"
import { type AddressInfo, connect as connectTo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { certificateFor } from "../../../server/test/federations/Issuer.js"
import { Upstream } from "../../../server/test/use/Upstream.js"
import { node, until } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const folder = mkdtempSync(join(tmpdir(), "coffer-proxy-"))
const certificate = certificateFor("localhost")
const other = certificateFor("localhost")
writeFileSync(join(folder, "ca.pem"), certificate.cert)
writeFileSync(join(folder, "other.pem"), other.cert)

const value = "sk_live_Canary7"

const place = workplace("ada@example.com", () => ({
  SERVICE_BROKER: "1",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
  NODE_EXTRA_CA_CERTS: join(folder, "ca.pem")
}))

let api: Upstream
let stranger: Upstream
let git: SecureServer
let agent: Readonly<Record<string, string>>

const portOf = (server: SecureServer) => (server.address() as AddressInfo).port

/** A repository over smart HTTP, for the user `git` with the value as its password. */
const serveGit = async (): Promise<SecureServer> => {
  const work = join(folder, "work")
  const run = (...args: ReadonlyArray<string>) =>
    execFileSync("git", args, { stdio: "ignore", env: { ...process.env, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" } })
  run("init", "-q", work)
  writeFileSync(join(work, "file.txt"), "content\n")
  run("-C", work, "add", ".")
  run("-C", work, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "first")
  run("clone", "-q", "--bare", work, join(folder, "repo.git"))
  const server = createSecureServer({ key: certificate.key, cert: certificate.cert })
  server.on("request", (request, response) => {
    const wanted = `Basic ${Buffer.from(`git:${value}`).toString("base64")}`
    if (request.headers.authorization !== wanted) return void response.writeHead(401).end()
    const [path = "", query = ""] = (request.url ?? "").split("?")
    const backend = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env["PATH"] ?? "",
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method ?? "",
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? ""
      }
    })
    request.pipe(backend.stdin)
    const chunks: Array<Buffer> = []
    backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    backend.once("close", () => {
      const all = Buffer.concat(chunks)
      const end = all.indexOf("\r\n\r\n")
      for (const line of all.toString("latin1", 0, end).split("\r\n")) {
        const [, name = "", text = ""] = /^([^:]+): (.*)$/.exec(line) ?? []
        if (name.toLowerCase() === "status") response.statusCode = Number(text.slice(0, 3))
        else response.setHeader(name, text)
      }
      response.end(all.subarray(end + 4))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return server
}

const allow = (key: string, port: number, ...args: ReadonlyArray<string>) =>
  place.ok("use", "allow", key, "--host", `localhost:${port}`, "--account", "agent", "--per-minute", "100", ...args)

beforeAll(async () => {
  api = await Upstream.start(certificate)
  stranger = await Upstream.start(other)
  git = await serveGit()
  const key = (await place.prints("service-account", "create", "agent", "--no-reveal")).trim()
  agent = { SERVICE_API_KEY: key }
  const patterns = ["--project-pattern", "*", "--env-pattern", "*"]
  await place.ok("acl", "grant", "--service-account", "agent", ...patterns, "--permission", "use")
  await place.ok("secret", "set", "STRIPE_KEY", value)
  await place.ok("secret", "set", "GIT_TOKEN", value)
  const methods = ["GET", "POST", "PUT"].flatMap((method) => ["--method", method])
  await allow("STRIPE_KEY", api.port, "--path", "/v1/*", ...methods, "--as-header", "authorization: Bearer {}")
  await allow(
    "GIT_TOKEN",
    portOf(git),
    "--path",
    "/repo.git/*",
    "--method",
    "GET",
    "--method",
    "POST",
    "--as-password-of",
    "git"
  )
})
afterAll(async () => {
  await api.stop()
  await stranger.stop()
  git.closeAllConnections()
  git.close()
  rmSync(folder, { recursive: true, force: true })
})

const proxied = (options: ReadonlyArray<string>, ...command: ReadonlyArray<string>) =>
  place.home.coffer(["use", "proxy", ...options, "--", ...command], { env: agent })

const shell = (options: ReadonlyArray<string>, script: string) => proxied(options, "/bin/sh", "-c", script)

const reverse = () => ["--base-url", `API_URL=localhost:${api.port}`]

describe("coffer use proxy", () => {
  it("makes the requests of a program with a base URL, whose key is a stand-in", async () => {
    const script = `
      const url = process.env.API_URL + "/v1/charges?limit=2"
      const headers = { authorization: "Bearer " + process.env.STRIPE_KEY, "content-type": "text/plain", "x-sdk": "1" }
      const response = await fetch(url, { method: "POST", headers, body: "amount=1" })
      console.log(JSON.stringify({ status: response.status, body: await response.json(), env: process.env }))`
    const { code, stderr, stdout } = await proxied(reverse(), node, "--input-type=module", "-e", script)
    assert.deepStrictEqual([code, stderr], [0, ""])
    const { body, env, status } = JSON.parse(stdout)
    assert.strictEqual(status, 200)
    assert.strictEqual(body.headers.authorization, "Bearer [scrubbed]")
    assert.match(env.STRIPE_KEY, /^coffer-stand-in-[0-9a-f]{24}$/)
    assert.isUndefined(env.SERVICE_API_KEY)
    assert.notInclude(stdout, value)
    const arrived = api.arrived.at(-1)
    assert.deepInclude(arrived, { method: "POST", url: "/v1/charges?limit=2", body: "amount=1" })
    assert.strictEqual(arrived?.headers.authorization, `Bearer ${value}`)
    assert.isUndefined(arrived?.headers["x-sdk"])
  })

  it("is a proxy that curl, Python and Node go through without being told", async () => {
    const url = `https://localhost:${api.port}/v1/x`
    const python = `import os, urllib.request as u; r = u.Request("${url}", headers={"authorization": "Bearer " + os.environ["STRIPE_KEY"]}); print(u.urlopen(r).read().decode())`
    const requests = `import os, requests; print(requests.get("${url}", headers={"authorization": "Bearer " + os.environ["STRIPE_KEY"]}).text)`
    for (const script of [
      `curl -sS -H "authorization: Bearer $STRIPE_KEY" ${url}`,
      `python3 -c '${python}'`,
      `python3 -c 'import requests' 2> /dev/null && python3 -c '${requests}' || curl -sS ${url}`
    ]) {
      const before = api.arrived.length
      const { code, stderr, stdout } = await shell([], script)
      assert.deepStrictEqual([code, stderr], [0, ""], script)
      assert.strictEqual(JSON.parse(stdout).headers.authorization, "Bearer [scrubbed]")
      assert.strictEqual(api.arrived.length, before + 1)
      assert.strictEqual(api.arrived.at(-1)?.headers.authorization, `Bearer ${value}`)
    }
  })

  it("lets git clone over https without a password", async () => {
    const into = join(folder, "cloned")
    const { code, stderr } = await shell([], `git clone -q https://localhost:${portOf(git)}/repo.git ${into}`)
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(readFileSync(join(into, "file.txt"), "utf8"), "content\n")
  })

  it("uploads up to 10 MiB, and says so of more", async () => {
    const file = join(folder, "upload.bin")
    const upload = () =>
      shell(
        [],
        `curl -s -w ' %{http_code}' --data-binary @${file} -H "Authorization: Bearer $STRIPE_KEY" https://localhost:${api.port}/v1/files`
      )
    const { answer } = api
    api.answer = (response) => response.end("stored")
    writeFileSync(file, Buffer.alloc(10 * 1024 * 1024, "u"))
    assert.deepInclude(await upload(), { code: 0, stdout: "stored 200" })
    assert.strictEqual(api.arrived.at(-1)?.body.length, 10 * 1024 * 1024)
    api.answer = answer
    writeFileSync(file, Buffer.alloc(10 * 1024 * 1024 + 1, "u"))
    const { stdout } = await upload()
    assert.match(stdout, /PAYLOAD_TOO_LARGE.*at most 10 MiB.* 413$/)
  })

  it("refuses a stand-in that no rule fills, by the name of its key", async () => {
    const before = api.arrived.length
    const url = `https://localhost:${api.port}/v1/x`
    for (const [args, part] of [
      [`-d "key=$STRIPE_KEY" ${url}`, "the body"],
      [`"${url}?key=$STRIPE_KEY"`, "the address"],
      [`-H "x-key: $STRIPE_KEY" ${url}`, "header x-key"],
      [`-d "$(printf %s "$STRIPE_KEY" | base64)" ${url}`, "the body"],
      [`-u "a:$GIT_TOKEN" -H "x: 1" ${url.replace(String(api.port), String(portOf(git)))}?a=$GIT_TOKEN`, "the address"]
    ] as const) {
      const { stdout } = await shell([], `curl -sS -w '%{http_code}' ${args}`)
      assert.match(
        stdout,
        new RegExp(`${part} has the stand-in of (STRIPE_KEY|GIT_TOKEN), which no rule fills there.*400$`)
      )
    }
    assert.strictEqual(api.arrived.length, before)
  })

  it("passes on what the server refuses, in its own words", async () => {
    const { stdout } = await shell([], `curl -sS -w '%{http_code}' https://localhost:${api.port}/v2/payouts`)
    assert.match(stdout, /"USE_REFUSED".*path \/v2\/payouts is in no rule of STRIPE_KEY.*403$/)
  })

  it("leaves other hosts alone, and with --only-rules refuses them", async () => {
    const script = `curl -sS --cacert ${join(folder, "other.pem")} -H "x-key: $STRIPE_KEY" https://localhost:${stranger.port}/any`
    const untouched = await shell([], script)
    assert.strictEqual(untouched.code, 0, untouched.stderr)
    assert.match(JSON.parse(untouched.stdout).headers["x-key"], /^coffer-stand-in-/)
    const count = stranger.arrived.length
    const refused = await shell(["--only-rules"], script)
    assert.strictEqual(refused.code, 56, refused.stdout)
    assert.match(refused.stderr, /403/)
    assert.strictEqual(stranger.arrived.length, count)
  })

  it("passes plain http to other hosts, and refuses it with --only-rules", async () => {
    const server = createServer(
      (request, response) => void response.end(`plain ${request.headers["proxy-authorization"]}`)
    )
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const script = `curl -sS http://localhost:${port}/`
    assert.strictEqual((await shell([], script)).stdout, "plain undefined")
    assert.match((await shell(["--only-rules"], script)).stdout, /in no use rule, and --only-rules/)
    server.close()
  })

  it("passes other hosts through the proxy that it inherited, except those of NO_PROXY", async () => {
    const asked: Array<string> = []
    const company = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`)
      response.end("by the company")
    })
    company.on("connect", (request, socket, head) => {
      asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`)
      if (request.url?.startsWith("forbidden.")) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
      const port = request.url?.startsWith("localhost.") === true ? stranger.port : 1
      const other = connectTo(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        other.write(head)
        other.pipe(socket)
        socket.pipe(other)
      })
      socket.on("error", () => other.destroy())
    })
    await new Promise<void>((resolve) => company.listen(0, "127.0.0.1", resolve))
    const address = `http://me:p%40ss@127.0.0.1:${(company.address() as AddressInfo).port}`
    const credential = `Basic ${Buffer.from("me:p@ss").toString("base64")}`
    const env = { ...agent, HTTPS_PROXY: address, HTTP_PROXY: address, NO_PROXY: ".direct.invalid" }
    const script = (line: string) => place.home.coffer(["use", "proxy", "--", "/bin/sh", "-c", line], { env })

    const tunnel = await script("curl -sSk https://localhost.company.invalid/any")
    assert.strictEqual(JSON.parse(tunnel.stdout).url, "/any", tunnel.stderr)
    assert.strictEqual((await script("curl -sS http://company.invalid/plain?a=1")).stdout, "by the company")
    assert.match((await script("curl -sSk https://forbidden.invalid/")).stderr, /502/)
    assert.deepStrictEqual(asked, [
      `CONNECT localhost.company.invalid:443 ${credential}`,
      `GET http://company.invalid/plain?a=1 ${credential}`,
      `CONNECT forbidden.invalid:443 ${credential}`
    ])
    const direct = await script("NO_PROXY= no_proxy= curl -sSk https://api.direct.invalid/")
    assert.match(direct.stderr, /502/)
    const ruled = await script(`curl -sS -H "authorization: Bearer $STRIPE_KEY" https://localhost:${api.port}/v1/x`)
    assert.strictEqual(JSON.parse(ruled.stdout).headers.authorization, "Bearer [scrubbed]")
    assert.lengthOf(asked, 3)
    company.closeAllConnections()
    company.close()
  })

  it("passes a stream on while it comes, with the value split over every boundary", async () => {
    const streaming = createSecureServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const key = (request.headers.authorization ?? "").replace("Bearer ", "")
      if (request.url === "/v1/cut") {
        response.write("data: begun\n\n")
        setTimeout(() => response.destroy(), 200)
        return
      }
      let event = 0
      const more = () => {
        if (event === 2_000) return void response.end("data: done\n\n")
        const at = event % (key.length + 1)
        response.write(`data: ${event} ${key.slice(0, at)}`)
        response.write(`${key.slice(at)}\n\n`)
        event++
        if (event % 100 === 0) setTimeout(more, 10)
        else more()
      }
      more()
    })
    await new Promise<void>((resolve) => streaming.listen(0, "127.0.0.1", resolve))
    const port = portOf(streaming)
    await allow(
      "STRIPE_KEY",
      port,
      "--path",
      "/v1/*",
      "--as-header",
      "authorization: Bearer {}",
      "--response",
      "stream"
    )
    const whole = await shell([], `curl -sS -N -D - https://localhost:${port}/v1/events`)
    assert.strictEqual(whole.code, 0, whole.stderr)
    assert.match(whole.stdout, /content-type: text\/event-stream/)
    assert.strictEqual(whole.stdout.match(/data: [0-9]+ \[scrubbed\]\n\n/g)?.length, 2_000)
    assert.match(whole.stdout, /data: done\n\n$/)
    assert.notInclude(whole.stdout, "Canary")
    const cut = await shell([], `curl -sS -N https://localhost:${port}/v1/cut`)
    assert.notStrictEqual(cut.code, 0)
    assert.match(cut.stdout, /^data: begun\n/)
    const audit = await place.prints("audit", "list", "--action", "secret.answer", "--limit", "2", "--json")
    assert.match(audit, /"failed": "connection"/)
    assert.match(audit, /"scrubbed": 2000/)
    const gone = await shell([], `curl -sS -N -m 1 https://localhost:${api.port}/v1/x`)
    assert.strictEqual(gone.code, 0, gone.stderr)
    streaming.closeAllConnections()
    streaming.close()
  })

  it("says what is missing: a rule, a host of the rules, a command", async () => {
    const { code, stderr } = await proxied(["--base-url", "X=api.example.com"], "true")
    assert.strictEqual(code, 1)
    assert.match(stderr, /no use rule of yours names the host api\.example\.com/)
    const none = await place.home.coffer(["use", "proxy", "--", "true"])
    assert.match(none.stderr, /no use rule of acme\/webshop\/dev names you/)
    assert.match((await proxied([], "no-such-command")).stderr, /no-such-command: there is no such command/)
    const unparted = await place.home.coffer(["use", "proxy", "a/b/c", "true"], { env: agent })
    assert.deepStrictEqual([unparted.code, /write -- before the command/.test(unparted.stderr)], [2, true])
  })

  it("ends as its command ends, and takes the place before --", async () => {
    assert.strictEqual((await shell(["acme/webshop/dev"], "exit 7")).code, 7)
    assert.strictEqual((await shell([], "kill -TERM $$")).signal, "SIGTERM")
  })

  it("is of this run alone: 407 without its credential, whatever the host is called, and no file is left", async () => {
    const child = place.home.start(["use", "proxy"], { env: agent })
    let printed = ""
    child.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()))
    const variables = await until(
      () => (printed.includes("GIT_HTTP_PROXY_AUTHMETHOD") ? printed : undefined),
      "variables"
    )
    const [, secret = "", port = ""] =
      /HTTPS_PROXY='http:\/\/coffer:([^@]+)@127\.0\.0\.1:([0-9]+)'/.exec(variables) ?? []
    const [, bundle = ""] = /SSL_CERT_FILE='([^']+)'/.exec(variables) ?? []
    assert.strictEqual(statSync(bundle).mode & 0o777, 0o600)
    const ask = (path: string, headers: Record<string, string> = {}) =>
      new Promise<number | undefined>((resolve, reject) => {
        requestHttp({ host: "127.0.0.1", port, path, headers }, (response) => resolve(response.resume().statusCode))
          .once("error", reject)
          .end()
      })
    const target = `localhost:${api.port}/v1/x`
    assert.strictEqual(await ask(`/${secret}/${target}`), 200)
    assert.strictEqual(await ask(`/wrong/${target}`), 407)
    assert.strictEqual(await ask(`/${secret}/${target}`, { host: "evil.example" }), 407)
    assert.strictEqual(await ask("http://localhost:1/"), 407)
    const connect = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        requestHttp({ host: "127.0.0.1", port, method: "CONNECT", path: `localhost:${api.port}`, headers })
          .once("connect", (response, socket) => {
            socket.destroy()
            resolve(response.statusCode)
          })
          .once("error", reject)
          .end()
      })
    const basic = (text: string) => ({ "proxy-authorization": `Basic ${Buffer.from(text).toString("base64")}` })
    assert.strictEqual(await connect({}), 407)
    assert.strictEqual(await connect(basic("coffer:wrong")), 407)
    assert.strictEqual(await connect(basic(`coffer:${secret}`)), 200)
    child.kill("SIGTERM")
    await new Promise((resolve) => child.once("close", resolve))
    assert.isFalse(existsSync(bundle))
  })

  it("makes certificates that OpenSSL takes in its strict form, for the hosts of the rules alone", async () => {
    const { stdout } = await shell(
      [],
      `openssl crl2pkcs7 -nocrl -certfile "$SSL_CERT_FILE" | openssl pkcs7 -print_certs -noout | head -2; openssl x509 -in "$SSL_CERT_FILE" -noout -text; (echo | openssl s_client -x509_strict -verify_return_error -proxy "127.0.0.1:\${HTTPS_PROXY##*:}" -proxy_user coffer -proxy_pass "env:PASS" -connect localhost:${api.port} -servername localhost -CAfile "$SSL_CERT_FILE" 2>&1) | grep Verif`.replace(
        '"env:PASS"',
        `"pass:$(echo $HTTPS_PROXY | sed 's/.*coffer:\\([^@]*\\)@.*/\\1/')"`
      )
    )
    assert.match(stdout, /X509v3 Name Constraints: critical\s+Permitted:\s+DNS:localhost\s/)
    assert.match(stdout, /CA:TRUE, pathlen:0/)
    assert.match(stdout, /Verif.*OK|Verify return code: 0/)
  })
})
