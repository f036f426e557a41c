import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { JWK } from "jose"

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** A certificate for names or addresses, which is its own authority. */
export const certificateFor = (...names: ReadonlyArray<string>): Certificate => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-issuer-"))
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const names_ = names.map((name) => (/^[0-9.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`)).join(",")
  const form = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=issuer"
  const files = ["-addext", `subjectAltName=${names_}`, "-keyout", key, "-out", cert]
  execFileSync("openssl", [...form.split(" "), ...files], { stdio: "ignore" })
  const made = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
  rmSync(folder, { recursive: true })
  return made
}

/** The name of issuers in tests: no resolver knows it. */
export const host = "issuer.test"

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const json =
  (value: unknown): Answer =>
  (response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify(value))

/** An issuer of tokens on loopback, over HTTPS. */
export class Issuer {
  keys: ReadonlyArray<JWK> = []
  /** Answers that replace its documents, by path. */
  readonly instead = new Map<string, Answer>()
  /** The paths that were asked for. */
  readonly asked: Array<string> = []

  private constructor(
    readonly server: Server,
    readonly url: string
  ) {}

  static async start({ cert, key }: Certificate, name = host): Promise<Issuer> {
    const server = createServer({ key, cert })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const issuer = new Issuer(server, `https://${name}:${(server.address() as AddressInfo).port}`)
    server.on("request", (request, response) => {
      issuer.#answer(request, response)
    })
    return issuer
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? ""
    this.asked.push(path)
    const other = this.instead.get(path)
    if (other !== undefined) other(response, request)
    else if (path === "/.well-known/openid-configuration") {
      json({ issuer: this.url, jwks_uri: `${this.url}/jwks` })(response, request)
    } else if (path === "/jwks") json({ keys: this.keys })(response, request)
    else response.writeHead(404).end()
  }

  /** How often the keys were fetched. */
  get fetches(): number {
    return this.asked.filter((path) => path === "/jwks").length
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
