import { configuredBy } from "@coffer/client/internal/Credentials"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import { confirmBy } from "./Confirmation.js"
import { makeConnect } from "./Connection.js"
import { Defect, describe, type Failure, ReadOnly } from "./Failures.js"
import { noteDefect, warnings } from "./Logging.js"
import type { McpSettings } from "./McpSettings.js"
import { offersOf } from "./Offers.js"
import { freely, pinned } from "./Places.js"
import { toText } from "./Plain.js"
import type { Tool } from "./Tool.js"
import type { Host, ToolResult, Use } from "./ToolResult.js"
import { tools } from "./Tools.js"

const text = (content: string) => [{ type: "text" as const, text: content }]

const done = (structuredContent: Record<string, unknown>): ToolResult => ({
  content: text(toText(structuredContent)),
  structuredContent
})

/** One line for each failure, as text alone: `structuredContent` must fit the tool's `outputSchema`. */
const failed = (failures: ReadonlyArray<Failure>): Effect.Effect<ToolResult> =>
  Effect.map(configuredBy, (variable) => ({
    content: text(
      failures.map((failure) => describe(failure, variable === undefined ? "person" : "account")).join("\n")
    ),
    isError: true
  }))

/** Runs the calls of all tools, each in a fiber of its own. */
const makeUse = Effect.fnUntraced(function* (settings: McpSettings, version: string) {
  const { offered, withheld } = offersOf(tools, settings)
  const findSettings = settings.pin ? yield* pinned : freely
  const connect = yield* makeConnect(version)

  const callTool = (tool: Tool, parameters: unknown, { ask, visits }: Host): Effect.Effect<ToolResult> =>
    tool.use(parameters, { findSettings, connect, confirm: confirmBy(ask), visits }).pipe(
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

  const run = Runtime.runPromise(yield* Effect.runtime())
  const use: Use = async (name, parameters, host) => {
    const tool = offered.find((candidate) => candidate.name === name)
    if (tool !== undefined) return run(callTool(tool, parameters, host), { signal: host.signal })
    if (!withheld.some((candidate) => candidate.name === name)) return undefined
    return run(failed([new ReadOnly({ message: `${name} changes something, and SERVICE_MCP_READ_ONLY is on` })]))
  }
  return use
}, Effect.provide(warnings))

/** Starts the calls. With SERVICE_MCP_PIN, this reads the pinned place. */
export const startCalls = (settings: McpSettings, version: string): Promise<Use> =>
  // The process ends the connections.
  Effect.runPromise(Effect.flatMap(Scope.make(), (scope) => Scope.extend(makeUse(settings, version), scope)))
