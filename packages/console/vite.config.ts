import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Where the server of `npm start` listens. */
const server = process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100"

export default defineConfig({
  root: file("./"),
  resolve: {
    alias: [
      { find: /^@coffer\/domain\/(.*)$/, replacement: `${file("../domain/src/")}$1.ts` },
      // Effect makes test data with it, which no page needs.
      { find: "fast-check", replacement: file("./src/client/EmptyModule.ts") },
      // dotenv loads these for reading files; the console uses its parser alone.
      { find: /^(fs|os|path|url)$/, replacement: file("./src/client/EmptyModule.ts") }
    ]
  },
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
        if (warning.exporter?.endsWith("/FastCheck.js") !== true) warn(warning)
      }
    }
  },
  server: {
    proxy: { "^/(api|login|device|docs|health|openapi.json|llms)": server }
  }
})
