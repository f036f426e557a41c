import type { Asker } from "@coffer/domain/errors/NextSteps"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { confirmBy } from "./Confirmation.js"
import type { Connect } from "./Connection.js"
import { Defect, describe, type Failure, ReadOnly } from "./Failures.js"
import type { McpSettings } from "./McpSettings.js"
import { offersOf } from "./Offers.js"
import type { FindSettings } from "./Places.js"
import { toText } from "./Plain.js"
import type { Tool } from "./Tool.js"
import type { Host, ToolResult, Use } from "./ToolResult.js"
import { tools } from "./Tools.js"

const text = (content: string) => [{ type: "text" as const, text: content }]

const done = (structuredContent: Record<string, unknown>): ToolResult => ({
  content: text(toText(structuredContent)),
  structuredContent
})

export interface UseOptions {
  readonly settings: McpSettings
  readonly findSettings: FindSettings
  /** Connects a call, which the host's program makes. */
  readonly connectFor: (host: Host) => Connect
  /** Whose credential the calls have: the next steps of failures depend on it. */
  readonly asker: Effect.Effect<Asker>
  readonly noteDefect: (cause: Cause.Cause<unknown>) => Effect.Effect<void>
  readonly run: (call: Effect.Effect<ToolResult>, options: { readonly signal: AbortSignal }) => Promise<ToolResult>
}

/** Runs the calls of all tools, each in a fiber of its own. */
export const makeUse = ({ asker, connectFor, findSettings, noteDefect, run, settings }: UseOptions): Use => {
  const { offered, withheld } = offersOf(tools, settings)

  /** One line for each failure, as text alone: `structuredContent` must fit the tool's `outputSchema`. */
  const failed = (failures: ReadonlyArray<Failure>): Effect.Effect<ToolResult> =>
    Effect.map(asker, (asker) => ({
      content: text(failures.map((failure) => describe(failure, asker)).join("\n")),
      isError: true
    }))

  const callTool = (tool: Tool, parameters: unknown, host: Host): Effect.Effect<ToolResult> =>
    tool
      .use(parameters, {
        findSettings,
        connect: connectFor(host),
        confirm: confirmBy(host.ask),
        visits: host.visits,
        waitsFor: host.waitsFor
      })
      .pipe(
        Effect.matchEffect({ onSuccess: (made) => Effect.succeed(done(made)), onFailure: failed }),
        Effect.catchAllCause((cause) =>
          Cause.isInterruptedOnly(cause)
            ? Effect.interrupt
            : Effect.zipRight(
                noteDefect(cause),
                failed([new Defect({ message: "something is wrong inside coffer-mcp" })])
              )
        )
      )

  return async (name, parameters, host) => {
    const tool = offered.find((candidate) => candidate.name === name)
    if (tool !== undefined) return run(callTool(tool, parameters, host), { signal: host.signal })
    if (!withheld.some((candidate) => candidate.name === name)) return undefined
    return run(failed([new ReadOnly({ message: `${name} changes something, and SERVICE_MCP_READ_ONLY is on` })]), {
      signal: host.signal
    })
  }
}
