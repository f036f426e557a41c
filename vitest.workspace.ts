import { defineWorkspace } from "vitest/config"

/** Tests run against the sources; the tests that start programs run the build. */
const alias = [
  { find: "@coffer/server/rotation", replacement: `${import.meta.dirname}/packages/server/src/keys/Rotation.ts` },
  { find: /^@coffer\/(domain|server)\/(.*)$/, replacement: `${import.meta.dirname}/packages/$1/src/$2.ts` }
]

const onPostgres = "test/postgres/**/*.test.ts"

const project = (name: string) => ({
  resolve: { alias },
  test: {
    name,
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    exclude: [onPostgres],
    fakeTimers: { toFake: [] },
    ...(name === "server" ? { globalSetup: "./test/backups/StartStore.ts" } : {}),
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})

/** Suites of the services that run on SQLite in the project `server` run on PostgreSQL too. */
const postgres = {
  resolve: { alias },
  test: {
    ...project("server").test,
    name: "postgres",
    include: [onPostgres],
    exclude: [],
    globalSetup: "./test/support/postgres/Start.ts"
  }
}

export default defineWorkspace([...["domain", "server", "cli", "mcp"].map((name) => project(name)), postgres])
