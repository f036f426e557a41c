import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import { assert } from "vitest"
import { type Json, Program } from "../../../server/test/support/Program.js"
import type { Variables } from "./Agent.js"

/** A real server with an organization, a project and somebody who owns them. */
export class Service {
  private constructor(
    readonly program: Program,
    readonly owner: string
  ) {}

  static async start(variables: Variables = {}): Promise<Service> {
    const program = await Program.start(variables)
    const service = new Service(program, await program.login("ada@example.com"))
    await service.post("/api/orgs", { name: "acme" })
    await service.post("/api/orgs/acme/projects", { name: "shop" })
    return service
  }

  get url(): string {
    return this.program.url
  }

  /** A request of the owner's, past the tools. */
  async request(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.program.call(method, path, { token: this.owner, body })
    assert.isBelow(answer.status, 300, answer.text)
    return answer.body
  }

  post(path: string, body: unknown): Promise<Json> {
    return this.request("POST", path, body)
  }

  /** A service account, with a rule for all of the organization where one is wanted. */
  async account(name: string, permission?: string, more: object = {}): Promise<{ id: string; key: string }> {
    const { api_key, id } = await this.post("/api/orgs/acme/service-accounts", { name, ...more })
    if (permission !== undefined) {
      const rule = {
        subject_type: "service_account",
        subject_id: id,
        project_pattern: "*",
        env_pattern: "*",
        permission
      }
      await this.post("/api/orgs/acme/acl", rule)
    }
    return { id, key: api_key }
  }

  /** Returns the variables that an agent is started with to work in shop/dev. */
  at(key: string, more: Variables = {}): Variables {
    return {
      SERVICE_SERVER_URL: this.url,
      SERVICE_API_KEY: key,
      SERVICE_ORG: "acme",
      SERVICE_PROJECT: "shop",
      SERVICE_ENV: "dev",
      ...more
    }
  }

  stop(): Promise<void> {
    return this.program.remove()
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A listener that is not Coffer, and counts who comes. */
export class Listener {
  readonly requests: Array<IncomingMessage> = []
  readonly #server = createServer((request, response) => {
    this.requests.push(request)
    for (const notify of this.#watchers.splice(0)) notify()
    this.#handler(request, response)
  })
  readonly #watchers: Array<() => void> = []
  readonly #handler: Handler

  private constructor(handler: Handler) {
    this.#handler = handler
  }

  static async start(handler: Handler): Promise<Listener> {
    const listener = new Listener(handler)
    listener.#server.listen(0, "127.0.0.1")
    await once(listener.#server, "listening")
    return listener
  }

  /** Answers every request with this. */
  static answering(status: number, body: string, headers: Record<string, string> = {}): Promise<Listener> {
    return Listener.start((_, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(body)
    })
  }

  /** An address where nobody listens. */
  static async nowhere(): Promise<string> {
    const listener = await Listener.answering(200, "")
    const { url } = listener
    await listener.stop()
    return url
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address()
    return typeof address === "object" ? (address?.port ?? 0) : 0
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** This listener by a name that is not known to be this machine's. */
  get foreignUrl(): string {
    return `http://0.0.0.0:${this.port}`
  }

  /** Waits until somebody has come. */
  async visited(count = 1): Promise<IncomingMessage> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#watchers.push(resolve))
    const request = this.requests[count - 1]
    assert(request !== undefined)
    return request
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve()
      })
      this.#server.closeAllConnections()
    })
  }
}
