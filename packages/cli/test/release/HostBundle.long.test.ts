import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { root } from "../support/Documents.js"
import { workplace } from "../support/Workplace.js"
import { freshFolder, version } from "./Support.js"
import { unzip } from "./Unzip.js"

const folder = freshFolder()
const place = workplace()
afterAll(() => rmSync(folder, { recursive: true }))

/** A script that packs the built tool server twice with the release's own script. */
const script = `
  import { readFile, writeFile } from "node:fs/promises"
  import { below } from ${JSON.stringify(`${root}scripts/release/archive.mjs`)}
  import { mcpFiles } from ${JSON.stringify(`${root}scripts/release/mcp.mjs`)}
  import { filesOf } from ${JSON.stringify(`${root}scripts/release/staging.mjs`)}
  const [root, target] = process.argv.slice(1)
  const manifest = JSON.parse(await readFile(root + "package.json", "utf8"))
  const program = { content: await readFile(root + "packages/mcp/bin/coffer-mcp.js"), executable: true }
  const client = { "mcp/bin/coffer-mcp.js": program, "cli/bin/coffer.js": "", LICENSE: "", ...below("mcp/dist/bundle", await filesOf(root + "packages/mcp/dist/bundle")) }
  const make = () => mcpFiles({ client, manifest, time: 1_700_000_000 })
  const [made, again] = [make(), make()]
  for (const [name, content] of Object.entries(made)) {
    if (!Buffer.from(content).equals(Buffer.from(again[name]))) throw new Error(name + " differs")
    await writeFile(target + "/" + name, content)
  }`

interface Manifest {
  readonly manifest_version: string
  readonly version: string
  readonly server: {
    readonly mcp_config: {
      readonly command: string
      readonly args: ReadonlyArray<string>
      readonly env: Readonly<Record<string, string>>
    }
  }
  readonly tools: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly user_config: Readonly<Record<string, { readonly sensitive: boolean; readonly required: boolean }>>
}

interface Variable {
  readonly name: string
  readonly isRequired: boolean
  readonly isSecret: boolean
}

describe("the bundle for hosts of tool servers", () => {
  it("is started as its manifest says, and has the tools that the manifest names", async () => {
    execFileSync(process.execPath, ["--input-type=module", "--eval", script, root, folder])
    const archive = readFileSync(join(folder, `coffer-${version}.mcpb`))
    const files = unzip(archive)
    const unpacked = join(folder, "bundle")
    for (const [path, { content }] of files) {
      mkdirSync(dirname(join(unpacked, path)), { recursive: true })
      writeFileSync(join(unpacked, path), content)
    }
    assert.isFalse(files.has("cli/bin/coffer.js"))
    assert.deepStrictEqual([...files.values()].filter(({ mode }) => mode === 0o100755).length, 1)
    const manifest: Manifest = JSON.parse(readFileSync(join(unpacked, "manifest.json"), "utf8"))
    assert.strictEqual(manifest.version, version)

    const config: Readonly<Record<string, string>> = {
      server_url: place.server.url,
      api_key: (await place.prints("service-account", "create", "agent")).trim(),
      org: "acme",
      project: "webshop",
      env: "dev"
    }
    const grant = ["--service-account", "agent", "--project-pattern", "webshop", "--env-pattern", "dev"]
    await place.ok("acl", "grant", ...grant, "--permission", "read")
    await place.ok("secret", "set", "API_KEY", "k-8c1f")
    const given = (text: string) =>
      text
        .replace("${__dirname}", unpacked)
        .replace(/\$\{user_config\.(\w+)\}/, (_, name: string) => config[name] ?? assert.fail(name))
    const { args, command, env } = manifest.server.mcp_config
    assert.sameMembers(Object.keys(manifest.user_config), Object.keys(config))
    const asked = Object.entries(manifest.user_config).map(([name, { required, sensitive }]) => [
      name,
      required,
      sensitive
    ])
    assert.deepStrictEqual(asked, [
      ["server_url", true, false],
      ["api_key", true, true],
      ...["org", "project", "env"].map((name) => [name, false, false])
    ])
    const agent = new Client({ name: "host", version: "1" })
    const variables = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, given(text)]))
    await agent.connect(
      new StdioClientTransport({
        command,
        args: args.map(given),
        env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...variables }
      })
    )
    const { tools } = await agent.listTools()
    const result = await agent.callTool({ name: "secret_get", arguments: { key: "API_KEY" } })
    await agent.close()
    assert.lengthOf(tools, 15)
    const listed = tools.map(({ description, name }) => ({ name, description }))
    assert.deepStrictEqual<ReadonlyArray<unknown>>(manifest.tools, listed)
    assert.include(JSON.stringify(result), "k-8c1f")

    const entry = JSON.parse(readFileSync(join(folder, "server.json"), "utf8"))
    assert.match(entry.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    assert.isAtMost(entry.description.length, 100, "the registry takes no more")
    const [one] = entry.packages
    assert.strictEqual(one.fileSha256, createHash("sha256").update(archive).digest("hex"))
    assert.isTrue(one.identifier.endsWith(`/coffer-${version}.mcpb`))
    const named: ReadonlyArray<Variable> = one.environmentVariables
    assert.deepStrictEqual(
      named.map(({ isRequired, isSecret, name }) => [name, isRequired, isSecret]),
      Object.keys(env).map((name, index) => [name, index < 2, name === "SERVICE_API_KEY"])
    )
  })
})
