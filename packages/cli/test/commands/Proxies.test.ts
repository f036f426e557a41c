import { obeysProxy } from "@coffer/client/internal/Proxy"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { connect, createServer as createTcpServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { node, TestHome } from "../support/Programs.js"

const servers: Array<Server> = []
const home = new TestHome("http://127.0.0.1:1")
afterAll(() => {
  for (const server of servers) server.close()
  home.remove()
})

const listen = async (server: Server) => {
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** A proxy that answers each CONNECT, and each request in clear text, with these bytes, or closes the connection. */
const refusing = async (answer: string | undefined) => {
  const proxy = createTcpServer((socket) => {
    socket.on("error", () => socket.destroy())
    socket.once("data", () => (answer === undefined ? socket.end() : socket.end(answer)))
  })
  return `127.0.0.1:${await listen(proxy)}`
}

const status = (line: string) => `HTTP/1.1 ${line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`

/** A server behind TLS for coffer.example, and a proxy to it that wants a name and a password. */
const behindProxy = async () => {
  const file = (name: string) => join(home.folder, name)
  const subject = ["-subj", "/CN=coffer.example", "-addext", "subjectAltName=DNS:coffer.example", "-days", "60"]
  const files = ["-keyout", file("key.pem"), "-out", file("cert.pem")]
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...files], { stdio: "ignore" })
  const healthy: RequestListener = (request, response) => {
    response.setHeader("content-type", "application/json")
    if (request.url === "/health") response.end(`{"status":"ok"}`)
    else response.writeHead(404).end(`{"error":{"code":"NOT_FOUND","message":"no such path"}}`)
  }
  const port = await listen(
    createTlsServer({ key: readFileSync(file("key.pem")), cert: readFileSync(file("cert.pem")) }, healthy)
  )
  const proxy = createServer()
  const asked: Array<string> = []
  proxy.on("connect", ({ headers, url = "" }, socket: Socket) => {
    asked.push(url)
    const wanted = `Basic ${Buffer.from("ada:s3cret").toString("base64")}`
    if (headers["proxy-authorization"] !== wanted) return socket.end(status("407 Proxy Authentication Required"))
    const onward = connect(port, "127.0.0.1", () => {
      // Slower than an idle connection of the client may be.
      setTimeout(() => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
        socket.pipe(onward).pipe(socket)
      }, 2_500)
    })
    for (const each of [socket, onward]) each.on("error", () => each.destroy())
    return undefined
  })
  return { asked, certificate: file("cert.pem"), host: `127.0.0.1:${await listen(proxy)}` }
}

const health = async (url: string, env: Record<string, string>) => {
  const { code, stderr } = await home.coffer(["health", "--server-url", url], { env })
  assert.strictEqual(code, 1)
  assert.notInclude(stderr, "s3cret")
  return stderr
}

const versions = { node: execFileSync(node, ["-p", "process.versions.node"]).toString().trim() }

describe.skipIf(!obeysProxy(versions))("a proxy that refuses", () => {
  it.each([
    [
      "407 Proxy Authentication Required",
      "asks for a name and a password (407); put them into HTTPS_PROXY, as in http:"
    ],
    ["403 Forbidden", "does not let you reach coffer.example (403); ask the operator of the proxy to allow"],
    ["502 Bad Gateway", "does not reach coffer.example (502); see whether the server runs, and whether the proxy can"]
  ])("a tunnel is named with the next step, and found by doctor: %s", async (line, says) => {
    const host = await refusing(status(line))
    const env = { HTTPS_PROXY: `http://${host}` }
    const stderr = await health("https://coffer.example", env)
    assert.include(stderr, `cannot reach https://coffer.example: the proxy ${host} (HTTPS_PROXY) ${says}`)
    assert.notInclude(stderr, "--server-url")
    const { code, stdout } = await home.coffer(["doctor", "--server-url", "https://coffer.example"], { env })
    assert.strictEqual(code, 1)
    assert.include(stdout, `problem\tproxy\tthe proxy ${host} (HTTPS_PROXY) ${says}`)
    assert.include(stdout, "warning\tconnection\tno request reached the server: see proxy\n")
  })

  it("requests in clear text is told from the server", async () => {
    const HTTP_PROXY = `http://ada:s3cret@${await refusing(status("407 Proxy Authentication Required"))}`
    assert.include(
      await health("http://coffer.example", { HTTP_PROXY }),
      "(HTTP_PROXY) does not take the name and the password in HTTP_PROXY (407); correct them"
    )
    const host = await refusing(status("403 Forbidden"))
    assert.include(
      await health("http://coffer.example", { HTTP_PROXY: host }),
      `the answer 403 for http://coffer.example is not a Coffer server's, and may be from the proxy ${host} (HTTP_PROXY)`
    )
  })

  it("is told from one that does not run, ends the connection or speaks something else", async () => {
    const says = async (host: string) => await health("https://coffer.example", { HTTPS_PROXY: host })
    assert.include(await says("127.0.0.1:1"), "the proxy 127.0.0.1:1 (HTTPS_PROXY) refused the connection; see whether")
    assert.include(await says(await refusing(undefined)), "ended the connection, or did not respond in time")
    assert.include(await says(await refusing("hello\r\n\r\n")), "does not speak HTTP")
    assert.include(await says("socks5://127.0.0.1:1"), "no other kind can be used; correct HTTPS_PROXY, or unset it")
  })

  it("nothing lets doctor through, to the server and its certificate", async () => {
    const { asked, certificate, host } = await behindProxy()
    const env = { HTTPS_PROXY: `http://ada:s3cret@${host}`, NODE_EXTRA_CA_CERTS: certificate }
    const { stdout } = await home.coffer(["doctor", "--server-url", "https://coffer.example"], { env })
    assert.include(stdout, `ok\tproxy\t${host} (HTTPS_PROXY) lets requests to coffer.example through\n`)
    assert.match(stdout, /^ok\tconnection\thttps:\/\/coffer\.example answers in \d+ ms$/m)
    assert.match(stdout, /^ok\tcertificate\tcoffer\.example, issued by coffer\.example, valid until /m)
    assert.notInclude(stdout, "s3cret")
    assert.include(asked, "coffer.example:443")
  })
})

describe.skipIf(obeysProxy(versions))("a version of Node that uses no proxies", () => {
  it("is named where a direct connection fails", async () => {
    const env = { HTTPS_PROXY: "http://ada:s3cret@proxy.example:3128" }
    assert.match(
      await health("https://coffer.invalid", env),
      /cannot reach https:\/\/coffer\.invalid: .*; HTTPS_PROXY names a proxy, which Node v[\d.]+ does not use: Node 22\.21/
    )
    const { stdout } = await home.coffer(["doctor", "--server-url", "https://coffer.invalid"], { env })
    assert.match(stdout, /^warning\tproxy\tHTTPS_PROXY is set, but Node v[\d.]+ does not use it/m)
  })
})
