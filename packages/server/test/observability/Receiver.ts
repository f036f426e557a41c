import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { Json } from "../support/Program.js"

export interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly status: { readonly code: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: ReadonlyArray<Json>
}

interface Delivery {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: Json
}

const attributesOf = (list: ReadonlyArray<Json>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    list.map(({ key, value }: Json): [string, unknown] => [key, value.stringValue ?? value.intValue ?? value.boolValue])
  )

/** A collector of traces: OTLP over HTTP, as JSON. One that hangs takes what it is sent and never answers. */
export class Receiver {
  readonly deliveries: Array<Delivery> = []

  private constructor(
    readonly url: string,
    readonly close: () => void
  ) {}

  static async start(options: { readonly hangs?: boolean; readonly status?: number } = {}): Promise<Receiver> {
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        receiver.deliveries.push({ path: request.url ?? "", headers: request.headers, text, body: JSON.parse(text) })
        if (options.hangs !== true) response.writeHead(options.status ?? 200).end("{}")
      })
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const receiver = new Receiver(`http://127.0.0.1:${port}`, () => {
      server.close()
      server.closeAllConnections()
    })
    return receiver
  }

  get spans(): ReadonlyArray<ReceivedSpan> {
    return this.deliveries
      .flatMap(({ body }) => body.resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
      .map((span: Json) => ({ ...span, attributes: attributesOf(span.attributes) }))
  }

  /** Everything that came in, as it came. */
  get text(): string {
    return this.deliveries.map(({ headers, text }) => JSON.stringify(headers) + text).join("\n")
  }
}
