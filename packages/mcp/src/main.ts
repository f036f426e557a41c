const version = process.env.COFFER_VERSION ?? "0.0.0-dev"

const start = async () => {
  // The words of what nobody caught may hold a value.
  process.once("uncaughtException", ({ name }) => {
    process.stderr.write(`coffer-mcp: something is wrong inside (${name})\n`)
    process.exit(1)
  })
  // Nobody may be reading, and that is no reason to end.
  process.stderr.on("error", () => {})
  const { runPromise } = await import("effect/Effect")
  const { serve } = await import("./ToolServer.js")
  process.exit(await runPromise(serve(version)))
}

if (process.argv[2] === "--version") process.stdout.write(`${version}\n`)
else await start()
