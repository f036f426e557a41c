import { createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { WebhookEvent } from "@coffer/domain/server/Webhook"

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly text: string
  readonly event: WebhookEvent
}

type Answer = (response: ServerResponse, received: Received) => void

/** The signatures of a delivery by the keys, as its header should have them. */
export const signatures = ({ headers, text }: Received, ...keys: ReadonlyArray<string>): string => {
  const [time = ""] = String(headers["x-coffer-signature"]).split(",")
  const signed = keys.map((key) =>
    createHmac("sha256", key)
      .update(`${time.slice(2)}.${text}`)
      .digest("hex")
  )
  return [time, ...signed.map((hex) => `v1=${hex}`)].join(",")
}

/** A receiver of webhooks on loopback. */
export class Receiver {
  readonly received: Array<Received> = []
  /** Writes its response to a request. */
  answer: Answer = (response) => void response.writeHead(204).end()

  private constructor(
    readonly server: Server,
    readonly url: string
  ) {}

  static async start(port = 0): Promise<Receiver> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
    const receiver = new Receiver(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.on("request", (request, response) => {
      void receiver.#take(request, response)
    })
    return receiver
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    // Messages for people are no JSON.
    const event = JSON.parse(text.startsWith("{") ? text : "{}") as WebhookEvent
    const one = { path: request.url ?? "", headers: request.headers, text, event }
    this.received.push(one)
    this.answer(response, one)
  }

  /** The keys and versions of the secrets that it was told of, in order. */
  get secrets(): ReadonlyArray<string> {
    return this.received.map(({ event: { environment, key, version } }) => `${environment} ${key} ${version}`)
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
