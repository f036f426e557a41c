/** Serves the protocol over HTTP: each request by itself, without sessions, so that any server answers any request. */
import { createMcpHandler } from "@modelcontextprotocol/server"
import { makeToolServer, type ToolServerOptions } from "./Protocol.js"

/** The headers of a request that the protocol reads. */
export const protocolHeaders = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"] as const

const refused = (status: number, code: number, message: string) =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status })

/**
 * Answers one message by a stream of events, which has a comment every 15 seconds while a call lasts. `request` comes without
 * its body, and its signal ends the call.
 */
export const serveMessage = async (
  options: ToolServerOptions,
  request: Request,
  message: unknown
): Promise<Response> => {
  // Revision 2025-06-18 removed lists of messages, which would make thousands of calls in one request.
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    return refused(400, -32_600, "send one message of the protocol, as a JSON object")
  }
  const { fetch } = createMcpHandler(({ era }) => makeToolServer(options, era), {
    responseMode: "sse",
    // Nothing that a host could listen to ever changes.
    maxSubscriptions: 0,
    onerror: options.onError
  })
  return fetch(request, { parsedBody: message })
}
