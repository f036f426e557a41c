import { defineWorkspace } from "vitest/config"

/** Tests run against the sources; the tests that start programs run the build. */
const alias = [
  { find: "@coffer/server/rotation", replacement: `${import.meta.dirname}/packages/server/src/keys/Rotation.ts` },
  { find: /^@coffer\/(domain|server)\/(.*)$/, replacement: `${import.meta.dirname}/packages/$1/src/$2.ts` }
]

const project = (name: string) => ({
  resolve: { alias },
  test: {
    name,
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    fakeTimers: { toFake: [] },
    ...(name === "server" ? { globalSetup: "./test/backups/StartStore.ts" } : {}),
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})

export default defineWorkspace(["domain", "server", "cli", "mcp"].map((name) => project(name)))
