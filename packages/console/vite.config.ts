import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig, type Plugin } from "vite"
import { withoutDocumentation } from "./WithoutDocumentation.js"

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Where the server of `npm start` listens. */
const server = process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100"

/** dotenv's parser uses no module of Node, and every page loads the errors of the contract. */
const expected =
  /\/FastCheck\.js$|imported by ".*\/node_modules\/dotenv\/|\/domain\/dist\/errors\/Errors\.js is dynamically imported/

/** The console reads YAML with its library, and writes it without. */
const withoutYamlWriter: Plugin = {
  name: "without-yaml-writer",
  transform: (code, id) => {
    if (!/\/yaml\/browser\/dist\/stringify\/\w+\.js$/.test(id)) return null
    const [, names = ""] = /export \{ (.*) \};/.exec(code) ?? []
    const refused = '() => { throw new Error("the console writes no YAML with this library") }'
    return {
      code: names.replace(/\w+/g, (name) => `export const ${name} = ${refused};`).replaceAll(",", ""),
      map: null
    }
  }
}

const { version } = JSON.parse(readFileSync(file("package.json"), "utf8")) as { readonly version: string }

export default defineConfig({
  define: { "import.meta.env.VITE_VERSION": JSON.stringify(version) },
  root: file("./"),
  plugins: [withoutDocumentation, withoutYamlWriter],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    // No organization can be named `-`.
    assetsDir: "-/assets",
    // The policy allows no scripts or styles within the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2022",
    rollupOptions: {
      // Small chunks are sent without compression, and cost a request each.
      output: { experimentalMinChunkSize: 6_000 },
      onwarn: (warning, warn) => {
        if (!expected.test(warning.exporter ?? warning.message)) warn(warning)
      }
    }
  },
  server: {
    proxy: { "^/(api|login|device|docs|health|openapi.json|llms)": server }
  }
})
