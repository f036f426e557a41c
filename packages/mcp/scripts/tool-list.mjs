/**
 * Writes `src/ToolList.ts`: what a host is told of the tools, out of `src/Tools.ts` and so of the domain's schemas. It is
 * kept ready because the schemas take longer to load than the program may take to start; a test tells when it is stale.
 * Runs after `tsc -b`; `npm run generate` does both.
 */
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { format, resolveConfig } from "prettier"
import { listed, toolsFor } from "../dist/Tools.js"

const path = fileURLToPath(new URL("../src/ToolList.ts", import.meta.url))
const all = { readOnly: false, reveal: true, pin: false }
const tools = toolsFor(all).offered.map(listed)
const secretCheck = toolsFor({ ...all, reveal: false })
  .offered.map(listed)
  .find((tool) => tool.name === "secret_get")

const source = `// Written by packages/mcp/scripts/tool-list.mjs from Tools.ts: change that, then run npm run generate.
import type { Tool } from "@modelcontextprotocol/sdk/types.js"

/** The tools as \`tools/list\` returns them. */
export const tools: ReadonlyArray<Tool> = ${JSON.stringify(tools)}

/** \`secret_get\` where it does not show values. */
export const secretCheck: Tool = ${JSON.stringify(secretCheck)}
`
await writeFile(path, await format(source, { ...(await resolveConfig(path)), parser: "typescript" }))
