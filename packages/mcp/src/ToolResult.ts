/** The result of a tool call, in the terms of the protocol. */
export interface ToolResult {
  readonly [key: string]: unknown
  readonly content: Array<{ readonly type: "text"; readonly text: string }>
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
}

/** Runs a tool and returns its result, for failures too; undefined if there is no such tool. The signal cancels the call. */
export type Use = (name: string, parameters: unknown, signal: AbortSignal) => Promise<ToolResult | undefined>
