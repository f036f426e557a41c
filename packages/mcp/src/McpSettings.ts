/** The restrictions of an agent, from the host's configuration. */
export interface McpSettings {
  /** Offer only tools that change nothing. */
  readonly readOnly: boolean
  /** `secret_get` returns the value. */
  readonly reveal: boolean
  /** Reject calls for another place than the configured one. */
  readonly pin: boolean
}

const words: ReadonlyMap<string, boolean> = new Map([
  ["0", false],
  ["false", false],
  ["1", true],
  ["true", true]
])

const defaults = { SERVICE_MCP_READ_ONLY: false, SERVICE_MCP_REVEAL: true, SERVICE_MCP_PIN: false } as const
type Name = keyof typeof defaults

/** Reads the settings. Returns a problem for an invalid value: it must not lift a restriction. */
export const mcpSettings = (
  env: Readonly<Record<string, string | undefined>>
): McpSettings | { readonly problem: string } => {
  const read = (name: Name) => {
    const text = env[name] ?? ""
    return text === "" ? defaults[name] : words.get(text)
  }
  const [readOnly, reveal, pin] = [
    read("SERVICE_MCP_READ_ONLY"),
    read("SERVICE_MCP_REVEAL"),
    read("SERVICE_MCP_PIN")
  ] as const
  if (readOnly === undefined) return { problem: "SERVICE_MCP_READ_ONLY must be 0 or 1" }
  if (reveal === undefined) return { problem: "SERVICE_MCP_REVEAL must be 0 or 1" }
  if (pin === undefined) return { problem: "SERVICE_MCP_PIN must be 0 or 1" }
  return { readOnly, reveal, pin }
}
