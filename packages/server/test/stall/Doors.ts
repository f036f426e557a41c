import type { Limits } from "./Limits.js"
import { malicious } from "./Rows.js"

/** A request at a door beside the contract. */
export interface DoorRow {
  readonly input: string
  readonly path: string
  readonly type: string
  readonly raw?: Uint8Array<ArrayBuffer>
}

/** A door whose requests are no calls of the contract. */
interface Door {
  /** The largest body that it takes; null: none. */
  readonly limit: number | null
  readonly type: string
  readonly inputs: ReadonlyArray<readonly [input: string, body: (limits: Limits) => unknown, query?: string]>
}

const json = "application/json"
const form = "application/x-www-form-urlencoded"
const forms = 8 * 1024
const largest = 1024 * 1024

const place = "project=web&env=full"

/** A call of a tool, or another request of the protocol. */
const message = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 1, method, params })

const tool = (name: string, parameters: object = {}, query = "") =>
  [name, () => message("tools/call", { name, arguments: parameters }), `${place}&extra=1&use=1${query}`] as const

const filledForm = (pair: string) => pair.repeat(Math.floor(forms / pair.length))

/** The form of a program whose texts are as long as a form allows. */
const program = (fields: string) => `${fields}&client_id=${"c".repeat(4_000)}&code_verifier=${"v".repeat(43)}`

export const doors: Readonly<Record<string, Door>> = {
  "POST /mcp": {
    limit: largest,
    type: json,
    inputs: [
      [
        "initialize",
        () =>
          message("initialize", {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "n".repeat(100_000), version: "v".repeat(100_000) }
          })
      ],
      ["tools/list", () => message("tools/list"), "extra=1&use=1"],
      tool("secret_list"),
      tool("secret_find", { key: "KEY" }),
      tool("secret_compare", { with: "large" }),
      tool("secret_uses"),
      tool("audit_list"),
      tool("org_members_list"),
      tool("acl_list"),
      tool("requests"),
      tool("access_show"),
      tool("secret_set", { key: "FROM_AN_AGENT", value: "\u00e9".repeat(32_000) })
    ]
  },
  "POST /oauth/register": {
    limit: forms,
    type: json,
    inputs: [
      [
        "ten addresses",
        () => ({
          redirect_uris: Array.from(
            { length: 10 },
            (_, port) => `http://127.0.0.1:${33_000 + port}/${"p".repeat(150)}`
          ),
          client_name: "\u202e".repeat(100)
        })
      ]
    ]
  },
  "POST /oauth/token": {
    limit: forms,
    type: form,
    inputs: [
      ["an unknown code", () => program("grant_type=authorization_code&code=x")],
      ["many fields", () => filledForm("a=b&")],
      ["escapes", () => filledForm("%C3%A9")]
    ]
  },
  "POST /oauth/revoke": {
    limit: forms,
    type: form,
    inputs: [
      ["an unknown token", () => program(`token=svc_dt_${"a".repeat(49)}`)],
      ["many fields", () => filledForm("a=b&")]
    ]
  },
  "GET /.well-known/oauth-protected-resource": { limit: null, type: json, inputs: [["", () => null]] },
  "GET /.well-known/oauth-protected-resource/mcp": { limit: null, type: json, inputs: [["", () => null]] },
  "GET /.well-known/oauth-authorization-server": { limit: null, type: json, inputs: [["", () => null]] },
  "GET /-/authorize": {
    limit: null,
    type: json,
    inputs: [["the longest query", () => null, "a=b&".repeat(1_024)]]
  }
}

const textOf = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body))

/** The requests at a door: what its programs send, and what an attacker sends. */
export const rowsOf = (door: string, limits: Limits): ReadonlyArray<DoorRow> => {
  const [, path = ""] = door.split(" ")
  const { inputs, limit, type } = doors[door]!
  const own = inputs.map(([input, body, query]): DoorRow => {
    const sent = body(limits)
    const raw = sent === null ? {} : { raw: Buffer.from(textOf(sent)) }
    return { input, path: query === undefined ? path : `${path}?${query}`, type, ...raw }
  })
  // One reader of bodies serves the others, which get the first of these.
  const attacks = limit === null ? [] : malicious(limit).slice(0, door === "POST /mcp" ? 6 : 1)
  return [
    ...own,
    ...attacks.map(([input, ask]): DoorRow => {
      const asked = ask({ limits, attempt: 0, call: () => Promise.reject(new Error("no call is made")) })
      return { input, path, type, ...("raw" in asked && asked.raw !== undefined && { raw: asked.raw }) }
    })
  ]
}
