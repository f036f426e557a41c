/** The files that hosts of tool servers install from: a bundle (.mcpb), and the entry of the MCP registry (server.json). */
import { createHash } from "node:crypto"
import { listing } from "../../packages/mcp/dist/Listing.js"
import { mcpSettings } from "../../packages/mcp/dist/McpSettings.js"
import { listedOf } from "../../packages/mcp/dist/Offers.js"
import { folderOf } from "./recipes.mjs"
import { zip } from "./zip.mjs"

/** The name in the registry, which the registry also looks for in the npm package. The publisher's namespace replaces the first part. */
export const mcpName = "com.example/coffer"

const about = "Secrets for agents: read, compare, write and use them with the rights of one account"

/** The settings that a person is asked for, by variable. */
const asked = {
  SERVICE_SERVER_URL: { title: "Server", description: "The address of your Coffer server", required: true },
  SERVICE_API_KEY: {
    title: "API key",
    description: "The key of a service account for the agent",
    secret: true,
    required: true
  },
  SERVICE_ORG: { title: "Organization", description: "The organization that calls without one mean" },
  SERVICE_PROJECT: { title: "Project", description: "The project that calls without one mean" },
  SERVICE_ENV: { title: "Environment", description: "The environment that calls without one mean" }
}

const configName = (variable) => variable.slice("SERVICE_".length).toLowerCase()

/** The manifest of the bundle: https://github.com/modelcontextprotocol/mcpb, MANIFEST.md. */
const manifestOf = ({ engines, license, version }, entry) => ({
  manifest_version: "0.3",
  name: "coffer",
  display_name: "Coffer",
  version,
  description: about,
  author: { name: "The Coffer authors" },
  license,
  server: {
    type: "node",
    entry_point: entry,
    mcp_config: {
      command: "node",
      args: [`\${__dirname}/${entry}`],
      env: Object.fromEntries(Object.keys(asked).map((name) => [name, `\${user_config.${configName(name)}}`]))
    }
  },
  tools: listedOf(listing(), mcpSettings({})).map(({ description, name }) => ({ name, description })),
  user_config: Object.fromEntries(
    Object.entries(asked).map(([name, { description, required = false, secret = false, title }]) => [
      configName(name),
      // An empty variable is as good as none.
      { type: "string", title, description, sensitive: secret, required, ...(required ? {} : { default: "" }) }
    ])
  ),
  compatibility: { runtimes: { node: engines.node } }
})

/** The entry of the registry, of the schema that it names. */
const entryOf = (version, bundleName, bundle) => ({
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: mcpName,
  title: "Coffer",
  description: about,
  version,
  packages: [
    {
      registryType: "mcpb",
      identifier: `${folderOf(version)}/${bundleName}`,
      version,
      fileSha256: createHash("sha256").update(bundle).digest("hex"),
      transport: { type: "stdio" },
      environmentVariables: Object.entries(asked).map(([name, { description, required = false, secret = false }]) => ({
        name,
        description,
        isRequired: required,
        isSecret: secret
      }))
    }
  ]
})

const json = (value) => `${JSON.stringify(value, null, 2)}\n`

/**
 * Returns the bundle and the entry by file name.
 *
 * @param client the files of the client's package, which have the tool server
 */
export const mcpFiles = ({ client, manifest, time }) => {
  const entry = "mcp/bin/coffer-mcp.js"
  const own = Object.entries(client).filter(([path]) => path.startsWith("mcp/") || /^(LICENSE|THIRD-PARTY)/.test(path))
  const bundle = zip(
    {
      ...Object.fromEntries(own),
      "package.json": json({ name: "coffer-mcp", version: manifest.version, private: true, type: "module" }),
      "manifest.json": json(manifestOf(manifest, entry))
    },
    time
  )
  const name = `coffer-${manifest.version}.mcpb`
  return { [name]: bundle, "server.json": json(entryOf(manifest.version, name, bundle)) }
}
