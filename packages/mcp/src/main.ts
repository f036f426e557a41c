import type { Use } from "./Calls.js"

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"

const start = async () => {
  const { note } = await import("./Stderr.js")
  // The words of what nobody caught may hold a value.
  process.once("uncaughtException", ({ name }) => {
    note(`something is wrong inside coffer-mcp (${name})`)
    process.exit(1)
  })
  // Nobody may be reading, and that is no reason to end.
  process.stderr.on("error", () => {})

  const { mcpSettings } = await import("./McpSettings.js")
  const settings = mcpSettings(process.env)
  if ("problem" in settings) {
    note(settings.problem)
    process.exit(1)
  }

  const load = async () => {
    const { runPromise } = await import("effect/Effect")
    const { makeUse } = await import("./Calls.js")
    return runPromise(makeUse(settings, version))
  }
  let loaded: Promise<Use> | undefined
  const use = () => (loaded ??= load())

  const { speak } = await import("./ToolServer.js")
  // What is pinned is what is configured now, before an agent can write anything.
  if (settings.pin) await use()
  process.exit(await speak(version, settings, use))
}

if (process.argv[2] === "--version") process.stdout.write(`${version}\n`)
else await start()
