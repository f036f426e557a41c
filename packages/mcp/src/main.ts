import { helpText } from "./Help.js"
import type { ListedTool } from "./Listing.js"
import { mcpSettings } from "./McpSettings.js"
import { unknownIn } from "./Offers.js"
import { note } from "./Stderr.js"
import type { Use } from "./ToolResult.js"
import { serve } from "./ToolServer.js"

/** Every tool: the build puts it here, from the tools' schemas. */
declare const COFFER_TOOLS: ReadonlyArray<ListedTool>

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"

/** No top-level `await`: the single executable runs this module as CommonJS. */
const start = async () => {
  // The message of an uncaught error may hold a value.
  process.once("uncaughtException", ({ name }) => {
    note(`something is wrong inside coffer-mcp (${name})`)
    process.exit(1)
  })
  // Go on if the host does not read standard error.
  process.stderr.on("error", () => {})

  const settings = mcpSettings(process.env)
  if ("problem" in settings) {
    note(settings.problem)
    process.exit(1)
  }
  const [unknown] = unknownIn(COFFER_TOOLS, settings)
  if (unknown !== undefined) {
    note(`SERVICE_MCP_TOOLS: there is no tool ${unknown}`)
    process.exit(1)
  }

  let started: Promise<Use> | undefined
  const calls = () => (started ??= import("./Calls.js").then(({ startCalls }) => startCalls(settings, version)))
  // Read the pinned place now, before the agent can change service.yml.
  if (settings.pin) await calls()
  process.exit(await serve(version, settings, COFFER_TOOLS, calls))
}

const [option] = process.argv.slice(2)
if (option === "--version") process.stdout.write(`${version}\n`)
else if (option === "--help" || option === "-h") process.stdout.write(helpText)
else if (option === undefined) void start()
else {
  process.stderr.write("coffer-mcp: it takes no arguments, only variables; see coffer-mcp --help\n")
  process.exit(2)
}
