import { makeExchange } from "@coffer/client/internal/Exchange"
import { noResponseWithin, serverUnreachable } from "@coffer/client/internal/ConnectionProblem"
import type { Send } from "@coffer/client/internal/Send"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { typedCalls } from "@coffer/client/internal/TypedCalls"
import type { Asker } from "@coffer/domain/errors/NextSteps"
import * as Effect from "effect/Effect"
import { placesOf } from "./HttpPlaces.js"
import { listing, type ListedTool } from "./Listing.js"
import type { McpSettings } from "./McpSettings.js"
import type { Scope } from "./Places.js"
import type { Use } from "./ToolResult.js"
import { makeUse, type UseOptions } from "./ToolCalls.js"

/** The calls of one request. */
export interface HttpCallsOptions extends Pick<UseOptions, "noteDefect" | "run"> {
  readonly settings: McpSettings
  readonly server: ServerUrl
  /** The place of calls that name none. */
  readonly place: Scope
  readonly asker: Asker
  /** Makes a request of the server to itself, with the caller's credential, in the name of the host's program. */
  readonly sendFor: (program: string | undefined) => Send
}

/** The address that calls are made of. They never leave the process. */
const inside = "http://localhost"

/** Runs calls in the server. A tool is the same as in `coffer-mcp`: only the way to the contract is another. */
export const httpCalls = ({ asker, noteDefect, place, run, sendFor, server, settings }: HttpCallsOptions): Use =>
  makeUse({
    settings,
    findSettings: placesOf(server, place, settings.pin),
    connectFor: ({ program }) => {
      const exchange = makeExchange({
        url: inside,
        send: sendFor(program),
        headers: Effect.succeed({}),
        unreachable: (failed) => serverUnreachable(server.base, failed),
        noResponseWithin: (seconds) => noResponseWithin(server.base, seconds),
        noteStatus: () => undefined
      })
      const call = typedCalls(exchange)
      return () => Effect.succeed(call)
    },
    asker: Effect.succeed(asker),
    noteDefect,
    run
  })

let listed: ReadonlyArray<ListedTool> | undefined

/** Every tool, from the schemas of the contract. */
export const everyTool = (): ReadonlyArray<ListedTool> => (listed ??= listing())
