import picomatch from "picomatch"
import { defineWorkspace } from "vitest/config"
import { filesOfOtherParts } from "./vitest.parts.js"

/** Tests run against the sources; the tests that start programs run the build. */
const alias = [
  {
    find: "@coffer/server/rotation",
    replacement: `${import.meta.dirname}/packages/server/src/operations/rotation/Rotation.ts`
  },
  {
    find: /^@coffer\/client-effect4$/,
    replacement: `${import.meta.dirname}/packages/client-effect4/src/index.ts`
  },
  { find: /^@coffer\/client$/, replacement: `${import.meta.dirname}/packages/client/src/index.ts` },
  { find: /^@coffer\/(client|domain|mcp|server)\/(.*)$/, replacement: `${import.meta.dirname}/packages/$1/src/$2.ts` }
]

/**
 * The tier to run: `fast` are all files but `*.long.test.ts`, `long` these. Without it both are run, so a file is found by its
 * name whichever it is of.
 */
const tier = process.env["COFFER_TIER"]
const isSoak = process.env["COFFER_RUNS"] === "soak"

const excluded = tier === "fast" ? ["**/*.long.test.{ts,tsx}"] : []
/** The files of a pattern, without `.test.ts`, that the tier runs. */
const files = (pattern: string) => `${pattern}${tier === "long" ? ".long" : ""}.test.{ts,tsx}`

/** How long a test or a hook may take; tests that need longer name it. */
const limit = tier === "fast" ? 30_000 : 300_000

/** The tests of the engine itself. */
const ofPostgres = "test/postgres/**/*"

/**
 * The suites that run on both engines, in the project `server` and in the project `postgres`. The rest of the suites
 * read SQLite's file or count its statements.
 */
const onBoth = [
  "access/{Access,RequestStates}",
  "audit/{Flush,LogWatch}",
  "database/Port",
  "organizations/Organizations"
]

/** The others of these, which run on PostgreSQL in the long tier only. */
const onBothInLongTier = [
  "acl/{AccessTable,Holders,RulesForKeys,RulesThatEnd,UnusedAccessMails,Usage}",
  "archives/{Archives,Columns,Kills,Protections,References,Rules}",
  "api/{Client,Connections}",
  "audit/{Archives,AuditIndex,AuditLog,UncleanEnds}",
  "authorization/{Delegations,Races}",
  "auth/{ClientLogins,LastUse}",
  "declared/Declared",
  "dues/Dues",
  "environments/Environments",
  "fairness/Database",
  "groups/{Groups,LoginGroups,LoginSteps}",
  "history/{ComparedVersions,Destroy,ProjectHistory,Races,Revert}",
  "limits/Attempts",
  "mcp/{Door,Oauth,Questions}",
  "scim/{FirstSync,Forms,Groups,People}",
  "members/{Consent,Departures,Invitations}",
  "observability/Usage",
  "model/Races",
  "operations/Drain",
  "passkeys/Passkeys",
  "previews/{Ended,Previews}",
  "projects/Projects",
  "requests/{Changes,FreedNames,LastVoters,LateVotes,NamedIds,Votes}",
  "secrets/{Bundles,Matrix,Secrets}",
  "stall/{Archives,Tenants}",
  "trail/{Pages,Queue}",
  "trash/Trash",
  "upgrades/Upgrades",
  "use/Uses",
  "users/Users",
  "vault/View",
  "webhooks/{Deliveries,Holdups}"
]

/** All files of suites, of both tiers. */
const suites = (names: ReadonlyArray<string>) => names.map((name) => `test/${name}{,.long}.test.ts`)

const isOnBothInLongTier = picomatch(suites(onBothInLongTier))
const isOfPostgres = picomatch(ofPostgres)

/** And those that run on PostgreSQL in a soak only: it would take too long with all other tests. */
const onBothInSoak = [
  "api/{Answers,Cookies,Login,Requests,Resources,Serving,Transport}",
  "audit/{Breaks,LogList,Reach}",
  "auth/*",
  "authorization/{AccessRules,Entry,Limits,Meanwhile,Members,ServiceAccounts,Table,Tenants}",
  "environments/Order",
  "federations/{Alike,Exchange,Keys,TokenTest}",
  "history/{Authorization,Limits,Model}",
  "identities/*",
  "jobs/*",
  "model/{Listing,Model}",
  "organizations/Overview",
  "pages/*",
  "references/{Model,References,Use}",
  "requests/{Notices,WaysOfWriting}",
  "secrets/{DecryptionFailures,KeySearch,Removed}",
  "trail/{Activity,Filters,Verify}",
  "trash/Kills",
  "use/{ApprovalMails,Approvals,Widening}",
  "vault/{Table,Tenants}"
]

/**
 * Suites that run in a soak only. What they show of losses, PostgreSQL's own suite shows in each run; the others try released
 * packages, faults of a store, and every page, list or spelling once more.
 */
const inSoak: Readonly<Record<string, ReadonlyArray<string>>> = {
  cli: [
    "documents/Examples",
    "commands/{Administration,BrokenOutput,Cluster,CompletedNames,InitChoices,Lists,Options,Recording,Rotation,Verbatim}",
    "release/{Libraries,Packages,Tools}"
  ],
  console: ["browser/Pages"],
  mcp: ["Faults"],
  server: [
    "audit/{IndexKilled,Ranges}",
    "authorization/Meanwhile",
    "backups/Store",
    "deploy/Cluster",
    "trash/Kills",
    "vault/Programs"
  ]
}

/** The setup that all tests of a project share, beside the comparison of the build with its sources. */
const globalSetups: Readonly<Record<string, string>> = {
  server: "./test/backups/StartStore.ts",
  console: "./test/support/Start.ts"
}

const staleBuild = `${import.meta.dirname}/scripts/stale-build.mjs`

/** The modules that run before each file of tests. */
const setupFiles = (name: string) => [
  `${import.meta.dirname}/packages/${name === "server" ? name : "domain"}/test/support/Umask.ts`
]

const isLong = (file: string) => file.includes(".long.")

const names = ["domain", "client", "client-effect4", "server", "cli", "mcp", "console"]

const ofOtherParts = filesOfOtherParts([
  ...names.map((name) => {
    const isElsewhere = picomatch([ofPostgres, ...suites(inSoak[name] ?? [])])
    return { name, isOfLongTier: (file: string) => isLong(file) && !isElsewhere(file) }
  }),
  { name: "postgres", isOfLongTier: (file) => isOnBothInLongTier(file) || (isOfPostgres(file) && isLong(file)) }
])

const project = (name: string) => ({
  resolve: { alias },
  test: {
    name,
    root: `packages/${name}`,
    include: [files("test/**/*")],
    exclude: [ofPostgres, ...excluded, ...(isSoak ? [] : suites(inSoak[name] ?? [])), ...ofOtherParts(name)],
    fakeTimers: { toFake: [] },
    setupFiles: setupFiles(name),
    testTimeout: limit,
    // A busy machine takes longer than the second that is the default. The test's own limit is longer.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: limit,
    globalSetup: [staleBuild, ...(globalSetups[name] === undefined ? [] : [globalSetups[name]])]
  }
})

const postgres = {
  resolve: { alias },
  test: {
    ...project("server").test,
    name: "postgres",
    include: [
      files(ofPostgres),
      ...onBoth.map((name) => files(`test/${name}`)),
      ...(tier === "fast" ? [] : suites(onBothInLongTier)),
      ...(isSoak ? suites(onBothInSoak) : [])
    ],
    exclude: [...excluded, ...ofOtherParts("postgres")],
    globalSetup: [staleBuild, "./test/support/postgres/Start.ts"]
  }
}

/** The tests in the browser once more, in a soak. */
const consoleOnPostgres = {
  resolve: { alias },
  test: {
    ...project("console").test,
    name: "console-postgres",
    include: ["test/browser/*.test.ts"],
    exclude: [],
    globalSetup: [staleBuild, "./test/support/StartPostgres.ts"]
  }
}

export default defineWorkspace([...names.map(project), postgres, ...(isSoak ? [consoleOnPostgres] : [])])
