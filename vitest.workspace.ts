import { defineWorkspace } from "vitest/config"

/** Tests run against the sources; the tests that start programs run the build. */
const alias = [
  { find: "@coffer/server/rotation", replacement: `${import.meta.dirname}/packages/server/src/keys/Rotation.ts` },
  { find: /^@coffer\/(domain|server)\/(.*)$/, replacement: `${import.meta.dirname}/packages/$1/src/$2.ts` }
]

/** The tests of the engine itself. */
const ofPostgres = "test/postgres/**/*.test.ts"

/** The suites that run on both engines, in the project `server` and in the project `postgres`. */
const onBoth = [
  "access/Access",
  "auth/{LastUse,Login,Sessions}",
  "environments/Environments",
  "members/Invitations",
  "organizations/Organizations",
  "projects/Projects",
  "secrets/{Bundles,Secrets}"
].map((name) => `test/${name}.test.ts`)

const project = (name: string) => ({
  resolve: { alias },
  test: {
    name,
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    exclude: [ofPostgres],
    fakeTimers: { toFake: [] },
    ...(name === "server" ? { globalSetup: "./test/backups/StartStore.ts" } : {}),
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})

const postgres = {
  resolve: { alias },
  test: {
    ...project("server").test,
    name: "postgres",
    include: [ofPostgres, ...onBoth],
    exclude: [],
    globalSetup: "./test/support/postgres/Start.ts"
  }
}

export default defineWorkspace([...["domain", "server", "cli", "mcp"].map((name) => project(name)), postgres])
