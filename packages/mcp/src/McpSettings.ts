import { BadSetting, variable, Variables } from "@coffer/domain/client/Settings"
import { Effect } from "effect"

/** How far an agent may go, by the will of whoever starts the program. */
export interface McpSettings {
  /** Only the tools that change nothing are there. */
  readonly readOnly: boolean
  /** `secret_get` shows the value. */
  readonly reveal: boolean
  /** No call may name another place than the configured one. */
  readonly pin: boolean
}

const words: ReadonlyMap<string, boolean> = new Map([
  ["0", false],
  ["false", false],
  ["1", true],
  ["true", true]
])

// A restraint that is misspelt must not be taken for none.
const flag = Effect.fnUntraced(function* (name: string, otherwise: boolean) {
  const text = variable(yield* Variables, name)
  const value = text === undefined ? otherwise : words.get(text)
  return value ?? (yield* new BadSetting({ message: `${name} must be 0 or 1` }))
})

export const mcpSettings: Effect.Effect<McpSettings, BadSetting> = Effect.all({
  readOnly: flag("SERVICE_MCP_READ_ONLY", false),
  reveal: flag("SERVICE_MCP_REVEAL", true),
  pin: flag("SERVICE_MCP_PIN", false)
})
