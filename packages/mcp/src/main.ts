import type { Use } from "./Calls.js"

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"

const serve = async () => {
  const { note } = await import("./Stderr.js")
  // The message of an uncaught error may hold a value.
  process.once("uncaughtException", ({ name }) => {
    note(`something is wrong inside coffer-mcp (${name})`)
    process.exit(1)
  })
  // Go on if the host does not read standard error.
  process.stderr.on("error", () => {})

  const { mcpSettings } = await import("./McpSettings.js")
  const settings = mcpSettings(process.env)
  if ("problem" in settings) {
    note(settings.problem)
    process.exit(1)
  }

  const load = async () => {
    const { flatMap, runPromise } = await import("effect/Effect")
    const { extend, make } = await import("effect/Scope")
    const { makeUse } = await import("./Calls.js")
    // The process ends the connections.
    return runPromise(flatMap(make(), (scope) => extend(makeUse(settings, version), scope)))
  }
  let loaded: Promise<Use> | undefined
  const use = () => (loaded ??= load())

  const { speak } = await import("./ToolServer.js")
  // Read the pinned place now, before the agent can change service.yml.
  if (settings.pin) await use()
  process.exit(await speak(version, settings, use))
}

/** No top-level `await`: the single executable runs this module as CommonJS. */
const start = async () => {
  const [option] = process.argv.slice(2)
  if (option === "--version") process.stdout.write(`${version}\n`)
  else if (option === "--help" || option === "-h") process.stdout.write((await import("./Help.js")).helpText)
  else if (option === undefined) await serve()
  else {
    process.stderr.write("coffer-mcp: it takes no arguments, only variables; see coffer-mcp --help\n")
    process.exit(2)
  }
}

void start()
