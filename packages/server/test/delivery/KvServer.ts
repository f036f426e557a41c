import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request that arrived. */
interface Arrived {
  readonly method: string
  readonly url: string
  readonly token: string | undefined
  readonly body: string
}

interface Kept {
  version: number
  /** Null if the last version was deleted. */
  data: Record<string, unknown> | null
}

/** The token that it takes. */
export const token = "CanaryToken0123456789"

/**
 * KV version 2, by https://openbao.org/api-docs/secret/kv/kv-v2/: reads with metadata, POST with `cas`, PATCH as a JSON merge patch
 * with `cas`, 404 for what is deleted, with its metadata.
 */
export class KvServer {
  readonly arrived: Array<Arrived> = []
  readonly kept = new Map<string, Kept>()
  /** Runs before a request is answered. What it resolves to replaces the answer: a status, or `"cut"`. */
  before: (arrived: Arrived) => Promise<number | "cut" | undefined> = () => Promise.resolve(undefined)

  private constructor(
    readonly server: Server,
    readonly url: string
  ) {}

  static async start(): Promise<KvServer> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const started = new KvServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => void started.#take(request, response, Buffer.concat(chunks).toString()))
    })
    return started
  }

  /** Writes as somebody else does. */
  write(path: string, data: Record<string, unknown> | null): void {
    this.kept.set(path, { version: (this.kept.get(path)?.version ?? 0) + 1, data })
  }

  data(path: string): Record<string, unknown> {
    return this.kept.get(path)?.data ?? {}
  }

  writes(): ReadonlyArray<Arrived> {
    return this.arrived.filter(({ method }) => method !== "GET")
  }

  async #take(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { method = "", url = "" } = request
    const given = request.headers["x-vault-token"]
    const arrived = { method, url, token: typeof given === "string" ? given : undefined, body }
    this.arrived.push(arrived)
    const instead = await this.before(arrived)
    if (instead === "cut") {
      request.socket.destroy()
      return
    }
    const answer = (status: number, json: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json))
    }
    if (instead !== undefined) return answer(instead, { errors: ["as the test says: Canary"] })
    if (arrived.token !== token) return answer(403, { errors: ["permission denied"] })
    const [, mount, path = ""] = /^\/v1\/([^/]+)\/data\/(.+)$/.exec(url) ?? []
    if (mount !== "secret") return answer(404, { errors: [`no handler for route "${url}"`] })
    const now = this.kept.get(path)
    const metadata = { version: now?.version ?? 0, deletion_time: "" }
    if (method === "GET") {
      if (now === undefined) return answer(404, { errors: [] })
      return answer(now.data === null ? 404 : 200, { data: { data: now.data, metadata } })
    }
    const { data, options } = JSON.parse(body) as { data: Record<string, unknown>; options?: { cas?: number } }
    if (method === "PATCH") {
      if (request.headers["content-type"] !== "application/merge-patch+json") return answer(415, { errors: [] })
      if (now === undefined || now.data === null) return answer(404, { errors: [] })
    }
    if (options?.cas !== undefined && options.cas !== (now?.version ?? 0)) {
      return answer(400, { errors: ["check-and-set parameter did not match the current version"] })
    }
    const merged = method === "PATCH" ? { ...now?.data, ...data } : data
    this.write(path, Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null)))
    answer(200, { data: { version: this.kept.get(path)?.version } })
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
