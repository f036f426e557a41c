import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Where the server of `npm start` listens. */
const server = process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100"

/** dotenv's parser uses no module of Node, and every page loads the errors of the contract. */
const expected =
  /\/FastCheck\.js$|imported by ".*\/node_modules\/dotenv\/|\/domain\/dist\/Errors\.js is dynamically imported/

const documentation = /\.annotate\(OpenApi\.(?:Summary|Description|Title), (?:"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)\)/g

/** Leaves out what the contract says for its document alone. */
const withoutDocumentation = {
  name: "without-documentation",
  transform: (code: string, id: string) =>
    /\/domain\/dist\/api\/\w+\.js$/.test(id) ? { code: code.replace(documentation, ""), map: null } : null
}

export default defineConfig({
  root: file("./"),
  plugins: [withoutDocumentation],
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
      onwarn: (warning, warn) => {
        if (!expected.test(warning.exporter ?? warning.message)) warn(warning)
      }
    }
  },
  server: {
    proxy: { "^/(api|login|device|docs|health|openapi.json|llms)": server }
  }
})
