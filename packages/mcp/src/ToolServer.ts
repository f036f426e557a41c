/** Serves the protocol on standard input and output. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import type { ListedTool } from "./Listing.js"
import type { McpSettings } from "./McpSettings.js"
import { listedOf } from "./Offers.js"
import { makeToolServer } from "./Protocol.js"
import { questionsInMemory } from "./Questions.js"
import { note } from "./Stderr.js"
import type { Use } from "./ToolResult.js"

const restraints = ({ pin, readOnly, reveal }: McpSettings) =>
  [readOnly && "read-only", !reveal && "values are not shown", pin && "pinned"].filter((word) => word !== false)

/** The SDK closes the connection itself if a message is too large. */
class Connection extends StdioServerTransport {
  constructor(private readonly onEnd: () => void) {
    super()
  }

  override close() {
    this.onEnd()
    return super.close()
  }
}

/**
 * Serves the tools on standard input and output until the input ends or a signal arrives. Interrupts the calls that still
 * run, and returns the exit code. The first message decides on the revision of the protocol.
 *
 * @param use returns the handler of calls
 */
export const serve = async (
  version: string,
  settings: McpSettings,
  tools: ReadonlyArray<ListedTool>,
  use: () => Promise<Use>
): Promise<number> => {
  // The error may quote a part of the message, and so a value.
  const onError = ({ name }: Error) => note(`a message was refused (${name})`)
  const { website } = settings
  const listed = listedOf(tools, settings).map(({ when: _, ...tool }) => tool)
  const options = { version, website, tools: listed, use, questions: questionsInMemory(), onError }

  let end: (code: number) => void = () => undefined
  const ended = new Promise<number>((resolve) => {
    end = resolve
  })
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => end(0))
  // A client that disconnects is no error.
  process.stdin.once("end", () => end(0))
  process.stdin.once("error", () => end(0))
  process.stdout.once("error", () => end(0))
  // The SDK adds one listener for each response that waits for a slow reader.
  process.stdout.setMaxListeners(0)
  const served = serveStdio(({ era }) => makeToolServer(options, era), {
    transport: new Connection(() => end(1)),
    onerror: onError
  })
  note([`${version} is ready`, ...restraints(settings)].join(", "))
  const code = await ended
  if (code === 0) await served.close()
  else note("the connection was given up")
  return code
}
