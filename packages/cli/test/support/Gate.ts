import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, request, type RequestListener, type Server } from "node:http"

const listening = async (handler: RequestListener): Promise<{ readonly server: Server; readonly url: string }> => {
  const server = createServer(handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return { server, url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}` }
}

/**
 * A login proxy before a server, such as Cloudflare Access: it wants two headers, keeps them to itself, and redirects everybody
 * else to a page of its own.
 */
export class Gate {
  /** The headers of each request that it let through. */
  readonly admitted: Array<IncomingHttpHeaders> = []
  /** The requests to its login page. */
  readonly elsewhere: Array<IncomingHttpHeaders> = []

  private constructor(
    readonly url: string,
    private readonly servers: ReadonlyArray<Server>
  ) {}

  static async before(target: string, id: string, secret: string): Promise<Gate> {
    const page = await listening(({ headers }, response) => {
      gate.elsewhere.push(headers)
      response.end()
    })
    const proxy = await listening((incoming, response) => {
      const { "cf-access-client-id": givenId, "cf-access-client-secret": givenSecret, ...headers } = incoming.headers
      if (givenId !== id || givenSecret !== secret) {
        response.writeHead(302, { location: `${page.url}/cdn-cgi/access/login` }).end()
        return
      }
      gate.admitted.push(incoming.headers)
      const onward = request(target + (incoming.url ?? ""), { method: incoming.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(response)
      })
      incoming.pipe(onward.on("error", () => response.destroy()))
    })
    const gate: Gate = new Gate(proxy.url, [page.server, proxy.server])
    return gate
  }

  close(): void {
    for (const server of this.servers) {
      server.close()
      server.closeAllConnections()
    }
  }
}
