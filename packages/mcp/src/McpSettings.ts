/** The settings that limit an agent's actions and view, from the host's configuration. */
export interface McpSettings {
  /** Offer only tools that change nothing. */
  readonly readOnly: boolean
  /** `secret_get` returns the value. */
  readonly reveal: boolean
  /** Reject calls for another place than the configured one. */
  readonly pin: boolean
  /** Offer the extra tools too. */
  readonly extra: boolean
  /** Offer the tools that use secrets in requests of the server. */
  readonly use: boolean
  /** Which tools are offered: all, those that the credential can ever use, or those of these names. */
  readonly tools: "all" | "usable" | ReadonlyArray<string>
  /** The credential is a service account's key. */
  readonly account: boolean
  /** The documentation that the configured server hands out. */
  readonly website: string | undefined
}

const words: ReadonlyMap<string, boolean> = new Map([
  ["0", false],
  ["false", false],
  ["1", true],
  ["true", true]
])

const defaults = { READ_ONLY: false, REVEAL: true, PIN: false, EXTRA: false, USE: false } as const
type Name = keyof typeof defaults

/** Only of a variable: a link from service.yml, which comes with a repository, could lead anywhere. */
const websiteOf = (address: string) => {
  if (!URL.canParse(address)) return undefined
  const { origin, pathname, protocol } = new URL(address)
  return /^https?:$/.test(protocol) ? `${origin}${pathname.replace(/\/+$/, "")}/docs` : undefined
}

const toolsOf = (text: string): McpSettings["tools"] | undefined => {
  const names = text.split(",").map((name) => name.trim())
  if (text === "" || text === "all") return "all"
  if (text === "usable") return "usable"
  return names.every((name) => /^[a-z][a-z_]*$/.test(name)) ? names : undefined
}

/** Reads the settings. Returns a problem for an invalid value: it must not lift a restriction. */
export const mcpSettings = (
  env: Readonly<Record<string, string | undefined>>
): McpSettings | { readonly problem: string } => {
  const read = (name: Name) => {
    const text = env[`SERVICE_MCP_${name}`] ?? ""
    return text === "" ? defaults[name] : words.get(text)
  }
  const [readOnly, reveal, pin] = [read("READ_ONLY"), read("REVEAL"), read("PIN")] as const
  const [extra, use] = [read("EXTRA"), read("USE")] as const
  if (readOnly === undefined) return { problem: "SERVICE_MCP_READ_ONLY must be 0 or 1" }
  if (reveal === undefined) return { problem: "SERVICE_MCP_REVEAL must be 0 or 1" }
  if (pin === undefined) return { problem: "SERVICE_MCP_PIN must be 0 or 1" }
  if (extra === undefined) return { problem: "SERVICE_MCP_EXTRA must be 0 or 1" }
  if (use === undefined) return { problem: "SERVICE_MCP_USE must be 0 or 1" }
  const tools = toolsOf(env.SERVICE_MCP_TOOLS ?? "")
  if (tools === undefined) {
    return { problem: "SERVICE_MCP_TOOLS must be all, usable, or names of tools, separated by commas" }
  }
  const account = !!env.SERVICE_API_KEY || !!env.SERVICE_API_KEY_FILE || !!env.SERVICE_ACCOUNT
  return { readOnly, reveal, pin, extra, use, tools, account, website: websiteOf(env.SERVICE_SERVER_URL ?? "") }
}
