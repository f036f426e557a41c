import { defineWorkspace } from "vitest/config"

/** Tests run against the sources; the tests that start programs run the build. */
const alias = [
  {
    find: "@coffer/server/rotation",
    replacement: `${import.meta.dirname}/packages/server/src/operations/rotation/Rotation.ts`
  },
  { find: /^@coffer\/(domain|server)\/(.*)$/, replacement: `${import.meta.dirname}/packages/$1/src/$2.ts` }
]

/** The tests of the engine itself. */
const ofPostgres = "test/postgres/**/*.test.ts"

/**
 * The suites that run on both engines, in the project `server` and in the project `postgres`. The rest of the suites
 * read SQLite's file or count its statements.
 */
const onBoth = [
  "access/Access",
  "api/{Client,Connections}",
  "audit/{AuditIndex,AuditLog,Breaks,Flush,Reach}",
  "auth/{ClientLogins,LastUse}",
  "database/Port",
  "declared/Declared",
  "dues/Dues",
  "environments/Environments",
  "fairness/Database",
  "federations/{Alike,Exchange}",
  "history/{Destroy,Races,Revert}",
  "limits/Attempts",
  "members/Invitations",
  "model/Races",
  "operations/Drain",
  "organizations/Organizations",
  "projects/Projects",
  "references/References",
  "secrets/{Bundles,DecryptionFailures,Matrix,Secrets}",
  "stall/Tenants",
  "trail/{Activity,Filters,Pages,Queue}",
  "use/Uses",
  "users/Users",
  "vault/View",
  "webhooks/{Deliveries,Holdups}"
]

/** The others of these, which run on PostgreSQL in the long form only: it would take too long with all other tests. */
const onBothInLongRuns = [
  "api/{Answers,Cookies,Login,Requests,Resources,Serving,Transport}",
  "auth/*",
  "authorization/{AccessRules,Entry,Limits,Meanwhile,Members,ServiceAccounts,Table,Tenants}",
  "federations/Keys",
  "history/{Authorization,Limits,Model}",
  "identities/*",
  "jobs/*",
  "model/{Listing,Model}",
  "pages/*",
  "references/{Model,Use}",
  "trail/Verify",
  "use/{Approvals,Widening}",
  "vault/{Table,Tenants}"
]

/** What all tests of a project share. */
const globalSetups: Readonly<Record<string, string>> = {
  server: "./test/backups/StartStore.ts",
  console: "./test/support/Start.ts"
}

const project = (name: string) => ({
  resolve: { alias },
  test: {
    name,
    root: `packages/${name}`,
    include: ["test/**/*.test.{ts,tsx}"],
    exclude: [ofPostgres],
    fakeTimers: { toFake: [] },
    ...(globalSetups[name] === undefined ? {} : { globalSetup: globalSetups[name] }),
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
})

const postgres = {
  resolve: { alias },
  test: {
    ...project("server").test,
    name: "postgres",
    include: [
      ofPostgres,
      ...[...onBoth, ...(process.env["COFFER_LONG"] === "1" ? onBothInLongRuns : [])].map(
        (name) => `test/${name}.test.ts`
      )
    ],
    exclude: [],
    globalSetup: "./test/support/postgres/Start.ts"
  }
}

/** The tests in the browser once more, in the long form. */
const consoleOnPostgres = {
  resolve: { alias },
  test: {
    ...project("console").test,
    name: "console-postgres",
    include: ["test/browser/*.test.ts"],
    globalSetup: "./test/support/StartPostgres.ts"
  }
}

export default defineWorkspace([
  ...["domain", "server", "cli", "mcp", "console"].map((name) => project(name)),
  postgres,
  ...(process.env["COFFER_LONG"] === "1" ? [consoleOnPostgres] : [])
])
