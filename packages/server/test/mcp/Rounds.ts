import { assert } from "vitest"
import type { Stage } from "../authorization/Scene.js"
import type { Json } from "../support/Program.js"

export interface Round {
  readonly headers: Readonly<Record<string, string>>
  readonly tool: string
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly replies?: Readonly<Record<string, object>>
  readonly state?: string | undefined
  readonly query?: string
  readonly can?: object
}

export const ticked = { confirm: { action: "accept", content: { confirm: true } } }

/** Makes a call in the revision 2026-07-28, as a host that asks its person and opens pages. Returns the result or the error. */
export const round = async (
  server: Pick<Stage, "send">,
  { can = { form: {}, url: {} }, headers, parameters = {}, query = "", replies, state, tool }: Round
): Promise<Json> => {
  const { text } = await server.send({
    method: "POST",
    path: `/mcp${query}`,
    headers: {
      ...headers,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": tool
    },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: tool,
        arguments: parameters,
        ...(replies !== undefined && { inputResponses: replies }),
        ...(state !== undefined && { requestState: state }),
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "0" },
          "io.modelcontextprotocol/clientCapabilities": { elicitation: can }
        }
      }
    }
  })
  const [, data = text] = /^data: (.*)$/m.exec(text) ?? []
  const { error, result }: Json = JSON.parse(data)
  return error ?? result
}

/** The state of a call that ended with a question. */
export const stateOf = (result: Json): string => {
  assert.strictEqual(result.resultType, "input_required", JSON.stringify(result))
  return result.requestState
}
