import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import type { Visits } from "./ToolResult.js"

/** The context of a running tool, beside its parameters. */
export interface RunContext {
  readonly server: ServerUrl
  readonly visits: Visits | undefined
  /** The request for votes that an earlier round of the call made. */
  readonly waitsFor: string | undefined
}
