const version = process.env.COFFER_VERSION ?? "0.0.0-dev"

/** Speaks the protocol on standard input and output until the input ends, or a signal asks for the end. */
const serve = async () => {
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js")
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js")
  const { ListToolsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js")

  const mcp = new McpServer({ name: "coffer", version }, { capabilities: { tools: {} } })
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }))
  mcp.server.onerror = ({ name }) => process.stderr.write(`coffer-mcp: a message was refused (${name})\n`)

  const stop = () => void mcp.close().finally(() => process.exit(0))
  process.once("SIGTERM", stop)
  process.once("SIGINT", stop)
  process.stdin.once("end", stop)
  // A client that is gone is no error.
  process.stdout.once("error", stop)

  await mcp.connect(new StdioServerTransport())
  process.stderr.write(`coffer-mcp ${version} is ready\n`)
}

if (process.argv[2] === "--version") process.stdout.write(`${version}\n`)
else await serve()
