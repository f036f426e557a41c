import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import type { Certificate } from "../federations/Issuer.js"

/** A request that arrived. */
export interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

type Answer = (response: ServerResponse, arrived: Arrived) => void

const echo: Answer = (response, arrived) =>
  response.setHeader("content-type", "application/json").end(JSON.stringify(arrived))

/** The other side: a server on loopback over HTTPS, which records its requests and returns them, or what a test says. */
export class Upstream {
  readonly arrived: Array<Arrived> = []
  answer: Answer = echo

  private constructor(
    readonly server: Server,
    readonly port: number
  ) {}

  static async start({ cert, key }: Certificate): Promise<Upstream> {
    const server = createServer({ key, cert })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const upstream = new Upstream(server, (server.address() as AddressInfo).port)
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const { headers, method = "", url = "" } = request
        const arrived = { method, url, headers, body: Buffer.concat(chunks).toString() }
        upstream.arrived.push(arrived)
        upstream.answer(response, arrived)
      })
    })
    return upstream
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
