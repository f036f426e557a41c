import { once } from "node:events"
import { createServer, request as send, type Server } from "node:http"

/** A request as the server gets it. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly body: string
  /** The status of the response. */
  readonly status: number
}

/** A proxy in front of a server that notes each request with its body. */
export class RecordedRequests {
  private noted: Array<RecordedRequest> = []

  private constructor(
    private readonly server: Server,
    readonly url: string
  ) {}

  static async before(target: string): Promise<RecordedRequests> {
    const server = createServer((request, response) => {
      const { headers, method = "GET", url = "" } = request
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const body = Buffer.concat(chunks)
        const onward = send(new URL(url, target), { method, headers }, (answer) => {
          recorder.noted.push({ method, url, body: body.toString(), status: answer.statusCode ?? 500 })
          response.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(response)
        })
        onward.end(body)
      })
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const recorder = new RecordedRequests(server, `http://127.0.0.1:${port}`)
    return recorder
  }

  /** Returns the requests since the last call. */
  take(): ReadonlyArray<RecordedRequest> {
    const { noted } = this
    this.noted = []
    return noted
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, "close")
  }
}
