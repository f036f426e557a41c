import { createServer, type IncomingHttpHeaders, type Server } from "node:http"
import type { AddressInfo } from "node:net"

/** A request that arrived. */
export interface Arrived {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A platform by its documentation. */
export interface Platform {
  readonly answer: (arrived: Arrived) => Answer
  /** The values that it holds, in clear. */
  readonly values: () => Readonly<Record<string, string>>
  /** Writes or removes as somebody else does. */
  readonly write: (name: string, value: string | null) => void
}

export const jsonOf = ({ body }: Arrived): Record<string, unknown> => JSON.parse(body) as Record<string, unknown>

/** The rows of a page, as most platforms count pages. */
export const pageOf = <Row>(rows: ReadonlyArray<Row>, { url }: Arrived): ReadonlyArray<Row> => {
  const [size, page] = [Number(url.searchParams.get("per_page") ?? 30), Number(url.searchParams.get("page") ?? 1)]
  return rows.slice(size * (page - 1), size * page)
}

/** Times of a platform, each later than the last one. */
export const makeTimes = () => {
  let seconds = 0
  return () => new Date(Date.UTC(2026, 0, 1) + ++seconds * 1000).toISOString()
}

export class StandIn {
  readonly arrived: Array<Arrived> = []
  /** An answer instead of the platform's; undefined for that. */
  before: (arrived: Arrived) => Answer | undefined = () => undefined
  /** How many calls were there at once, at most. */
  most = 0

  private constructor(
    readonly server: Server,
    readonly url: string
  ) {}

  static async start(platform: Platform, delayMillis = 0): Promise<StandIn> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const made = new StandIn(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    let now = 0
    server.on("request", (request, response) => {
      const chunks: Array<Buffer> = []
      made.most = Math.max(made.most, ++now)
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const url = new URL(request.url ?? "", made.url)
        const { headers, method = "" } = request
        const arrived = { method, url, headers, body: Buffer.concat(chunks).toString() }
        made.arrived.push(arrived)
        const { headers: more, json, status } = made.before(arrived) ?? platform.answer(arrived)
        setTimeout(() => {
          now--
          response.writeHead(status, { "content-type": "application/json", ...more })
          response.end(json === undefined ? undefined : JSON.stringify(json))
        }, delayMillis)
      })
    })
    return made
  }

  writes(): ReadonlyArray<Arrived> {
    return this.arrived.filter(({ method }) => method !== "GET")
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
