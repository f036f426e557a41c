import { Client as Newer, StreamableHTTPClientTransport as NewerTransport } from "@modelcontextprotocol/client"
import { Client as Older } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Json } from "../support/Program.js"
import type { Sent } from "../support/postgres/Running.js"

interface Server {
  readonly send: (request: Sent) => Promise<{ readonly status: number; readonly text: string }>
}

/** Sends each request to the next of the servers. */
export const roundRobin = (servers: ReadonlyArray<Server>) => {
  let sent = 0
  return async (url: string | URL, { body, headers, method = "GET" }: RequestInit = {}): Promise<Response> => {
    const server = servers[sent++ % servers.length]
    if (server === undefined) throw new Error("there is no server")
    const { pathname, search } = new URL(url)
    const { status, text } = await server.send({
      method,
      path: pathname + search,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === "string" && { body: JSON.parse(body) })
    })
    const type = /^(?:event|:)/.test(text) ? "text/event-stream" : "application/json"
    return new Response(text === "" ? null : text, { status, headers: { "content-type": type } })
  }
}

/** The part of both clients that the tests use. */
export interface RemoteAgent {
  readonly tools: () => Promise<ReadonlyArray<string>>
  readonly call: (
    name: string,
    parameters?: Record<string, unknown>
  ) => Promise<{ readonly isError: boolean; readonly text: string; readonly structured: Json }>
}

const resultOf = ({ content, isError, structuredContent }: Json) => ({
  isError: isError === true,
  text: content[0].text as string,
  structured: structuredContent
})

const at = (query: string) => new URL(`http://localhost/mcp${query}`)
const clientInfo = { name: "claude\u202ecode", version: "2.1.0" }

/** The official clients: of version 1 with its revisions, and of version 2 with the newest. */
export const agents = {
  "version 1": async (servers: ReadonlyArray<Server>, token: string, query = ""): Promise<RemoteAgent> => {
    const client = new Older(clientInfo)
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new OlderTransport(at(query), { fetch: roundRobin(servers), requestInit }))
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, parameters = {}) => resultOf(await client.callTool({ name, arguments: parameters }))
    }
  },
  "version 2": async (servers: ReadonlyArray<Server>, token: string, query = ""): Promise<RemoteAgent> => {
    const client = new Newer(clientInfo, { versionNegotiation: { mode: { pin: "2026-07-28" } } })
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new NewerTransport(at(query), { fetch: roundRobin(servers), requestInit }))
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, parameters = {}) => resultOf(await client.callTool({ name, arguments: parameters }))
    }
  }
}
