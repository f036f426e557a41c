import { once } from "node:events"
import { createServer, request as send, type Server } from "node:http"

/** A server in front of another one that notes what it is asked for, and can answer itself. */
export class Recorder {
  asked: Array<string> = []
  /** The answer in place of the real server's. "nothing" leaves the request open. */
  answer: unknown

  private constructor(
    private readonly server: Server,
    readonly url: string
  ) {}

  static async before(target: string): Promise<Recorder> {
    const server = createServer((request, response) => {
      const { headers, method, url = "" } = request
      recorder.asked.push(`${method ?? ""} ${url}`)
      if (recorder.answer === "nothing") return
      if (recorder.answer !== undefined) {
        response.setHeader("content-type", "application/json")
        response.end(JSON.stringify(recorder.answer))
        return
      }
      const onward = send(new URL(url, target), { method: method ?? "GET", headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      request.pipe(onward)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const recorder = new Recorder(server, `http://127.0.0.1:${port}`)
    return recorder
  }

  /** Returns the requests since the last call. */
  look(): ReadonlyArray<string> {
    const { asked } = this
    this.asked = []
    return asked
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, "close")
  }
}
