import { configuredBy } from "@coffer/client/internal/Credentials"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import { freely, pinned } from "./ConfiguredPlaces.js"
import { makeConnect } from "./Connection.js"
import { noteDefect, warnings } from "./Logging.js"
import type { McpSettings } from "./McpSettings.js"
import type { Use } from "./ToolResult.js"
import { makeUse } from "./ToolCalls.js"

const asker = Effect.map(configuredBy, (variable) => (variable === undefined ? "person" : "account"))

/** Runs the calls over connections to the configured server. */
const connected = Effect.fnUntraced(function* (settings: McpSettings, version: string) {
  const findSettings = settings.pin ? yield* pinned : freely
  const connect = yield* makeConnect(version)
  const run = Runtime.runPromise(yield* Effect.runtime())
  return makeUse({ settings, findSettings, connectFor: () => connect, asker, noteDefect, run })
}, Effect.provide(warnings))

/** Starts the calls. With SERVICE_MCP_PIN, this reads the pinned place. */
export const startCalls = (settings: McpSettings, version: string): Promise<Use> =>
  // The process ends the connections.
  Effect.runPromise(Effect.flatMap(Scope.make(), (scope) => Scope.extend(connected(settings, version), scope)))
