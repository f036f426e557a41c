import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import { tree } from "../../src/Commands.js"
import { shownNodes } from "../../src/grammar/Tree.js"
import { finish } from "../support/Programs.js"

const page = readFileSync(new URL("../../../../docs/cli.md", import.meta.url), "utf8")

it("is what the client does: docs/cli.md, command by command", { timeout: 240_000 }, async () => {
  const script = fileURLToPath(new URL("../../../../scripts/record-cli.mjs", import.meta.url))
  const { code, stderr, stdout } = await finish(spawn(process.execPath, [script, "--print"]))
  assert.strictEqual(code, 0, stderr)
  assert.deepStrictEqual(stdout.split("\n"), page.split("\n"), "run: npm run generate")
})

it("shows every command", () => {
  const names = shownNodes(tree.nodes).flatMap((node) =>
    node.type === "command" ? [node.name] : shownNodes(node.commands).map(({ name }) => `${node.name} ${name}`)
  )
  const shown = (name: string) => new RegExp(`^\\$ (.*[|&;] |\\w+="[^"\\n]*" )?coffer ${name}( |$)`, "m").test(page)
  const missing = names.filter((name) => !shown(name))
  assert.isAbove(names.length, 50)
  assert.deepStrictEqual(missing, [])
})
