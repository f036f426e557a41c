import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"
import { manualChunks } from "./bundling/Chunks.js"
import { earlyScript } from "./bundling/EarlyScript.js"
import { pureContract } from "./bundling/PureContract.js"
import { shortKeys } from "./bundling/ShortKeys.js"
import { withoutDocumentation } from "./bundling/WithoutDocumentation.js"
import { withoutOtherRights } from "./bundling/WithoutOtherRights.js"
import { withoutMembers } from "./bundling/WithoutMembers.js"
import { withoutUncalled } from "./bundling/WithoutUncalled.js"
import { withoutUnused } from "./bundling/WithoutUnused.js"

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Where the server of `npm start` listens. */
const server = process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100"

/** Every page loads the errors of the contract, and the import all formats that are small. */
const expected =
  /\/FastCheck\.js$|\/domain\/dist\/(?:errors\/Errors|formats\/(?:Docker|Env|Json|Shell|tools\/JsonTree))\.js is dynamically imported/

const { version } = JSON.parse(readFileSync(file("package.json"), "utf8")) as { readonly version: string }

export default defineConfig({
  define: { "import.meta.env.VITE_VERSION": JSON.stringify(version) },
  root: file("./"),
  plugins: [
    withoutUncalled(),
    withoutOtherRights(),
    withoutDocumentation,
    pureContract,
    withoutMembers,
    withoutUnused,
    shortKeys(),
    earlyScript
  ],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    // No organization can be named `-`.
    assetsDir: "-/assets",
    // The policy allows no scripts or styles within the page.
    assetsInlineLimit: 0,
    // All styles are small, and each file costs a request.
    cssCodeSplit: false,
    // The first script asks for those of the matrix, and a page has few others: the lists for all cost more than they save.
    modulePreload: false,
    reportCompressedSize: false,
    // 7 KiB smaller, compressed, than esbuild's. A second pass saves 0.4 KiB and takes five seconds.
    minify: "terser",
    terserOptions: { ecma: 2020, module: true, compress: { passes: 1 } },
    target: "es2022",
    rollupOptions: {
      treeshake: { propertyReadSideEffects: false, tryCatchDeoptimization: false, unknownGlobalSideEffects: false },
      input: { index: file("./index.html"), early: file("./src/early.ts") },
      output: { manualChunks: manualChunks(), onlyExplicitManualChunks: true, experimentalMinChunkSize: 6_000 },
      onwarn: (warning, warn) => {
        if (!expected.test(warning.exporter ?? warning.message)) warn(warning)
      }
    }
  },
  server: {
    proxy: { "^/(api|login|device|docs|health|openapi.json|llms)": server }
  }
})
