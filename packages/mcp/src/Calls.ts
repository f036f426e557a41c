import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { Cause, Effect, Runtime } from "effect"
import { makeConnect } from "./Connection.js"
import { Defect, describe, type Failure, NotOffered } from "./Failures.js"
import { noteDefect, warnings } from "./Logging.js"
import type { McpSettings } from "./McpSettings.js"
import { freely, pinned } from "./Places.js"
import { toText } from "./Plain.js"
import type { ToolContext, Tool } from "./Tool.js"
import { toolsFor } from "./Tools.js"

/** Runs a tool call and returns its result, for failures too. The signal cancels the call. */
export type Use = (name: string, parameters: unknown, signal: AbortSignal) => Promise<CallToolResult>

const text = (content: string) => [{ type: "text" as const, text: content }]

const done = (structuredContent: Readonly<Record<string, unknown>>): CallToolResult => ({
  content: text(toText(structuredContent)),
  structuredContent
})

/** One line for each failure, as text alone: `structuredContent` must fit the tool's `outputSchema`. */
const failed = (failures: ReadonlyArray<Failure>): CallToolResult => ({
  content: text(failures.map(describe).join("\n")),
  isError: true
})

const notOffered = (name: string, keptBack: ReadonlyArray<Tool>) =>
  keptBack.some((tool) => tool.name === name)
    ? new NotOffered({
        code: "READ_ONLY",
        message: `${name} changes something, and SERVICE_MCP_READ_ONLY is on`,
        next: "tell the user what you wanted to change"
      })
    : new NotOffered({ code: "UNKNOWN_TOOL", message: "there is no tool of that name", next: "list the tools" })

/** The maximum of concurrent requests to the server; further calls wait. */
const atOnce = 32

/** Runs the calls of all tools, each in a fiber of its own. */
export const makeUse = Effect.fnUntraced(function* (settings: McpSettings, version: string) {
  const { keptBack, offered } = toolsFor(settings)
  const context: ToolContext = {
    findSettings: settings.pin ? yield* pinned : freely,
    connect: yield* makeConnect(version)
  }
  const gate = yield* Effect.makeSemaphore(atOnce)

  const answer = (name: string, parameters: unknown): Effect.Effect<CallToolResult> => {
    const tool = offered.find((candidate) => candidate.name === name)
    if (tool === undefined) return Effect.succeed(failed([notOffered(name, keptBack)]))
    return tool.use(parameters, context).pipe(
      gate.withPermits(1),
      Effect.match({ onSuccess: done, onFailure: failed }),
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.interrupt
          : Effect.as(noteDefect(cause), failed([new Defect({ message: "something is wrong inside coffer-mcp" })]))
      )
    )
  }

  const run = Runtime.runPromise(yield* Effect.runtime())
  const use: Use = (name, parameters, signal) => run(answer(name, parameters), { signal })
  return use
}, Effect.provide(warnings))
