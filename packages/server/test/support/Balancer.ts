import { once } from "node:events"
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import type { Program } from "./Program.js"

/** A connection for each request: a kept one may be closed by its server while the next request is on its way. */
const agent = new Agent({ keepAlive: false })

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly text: string
}

/** An HTTP proxy that gives each request to the next of several servers, and shows what was answered. */
export class Balancer {
  #next = 0

  private constructor(
    readonly server: Server,
    readonly targets: ReadonlyArray<Pick<Program, "port">>,
    readonly onExchange: (exchange: Exchange) => void
  ) {}

  static async over(
    targets: ReadonlyArray<Pick<Program, "port">>,
    onExchange: (exchange: Exchange) => void = () => undefined
  ): Promise<Balancer> {
    const server = createServer()
    const balancer = new Balancer(server, targets, onExchange)
    server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
      balancer.#pass(incoming, outgoing).catch(() => outgoing.destroy())
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { headers, method = "GET", url: path = "/" } = incoming
    const { port } = this.targets[this.#next++ % this.targets.length] ?? { port: 0 }
    const passed = request({
      agent,
      host: "127.0.0.1",
      port,
      method,
      path,
      // Compressed, an answer could not be shown.
      headers: { ...headers, connection: "close", "accept-encoding": "identity" }
    })
    passed.end(await buffer(incoming))
    const [answer] = (await once(passed, "response")) as [IncomingMessage]
    const body = await buffer(answer)
    const status = answer.statusCode ?? 0
    this.onExchange({ method, path, status, text: body.toString() })
    const { connection: _, ...passedOn } = answer.headers
    outgoing.writeHead(status, passedOn).end(body)
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }
}
