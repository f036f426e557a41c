import js from "@eslint/js"
import { defineConfig, globalIgnores } from "eslint/config"
import globals from "globals"
import tseslint from "typescript-eslint"
import { layers } from "./scripts/architecture/layers.mjs"
import { words } from "./scripts/words.mjs"

const sources = ["packages/*/src/**/*.{ts,tsx}"]
const tests = [
  "packages/*/test/**/*.{ts,tsx}",
  "packages/*/bench/**/*.ts",
  "packages/*/examples/**/*.ts",
  "packages/console/vite.config.ts",
  "packages/console/bundling/*.ts",
  "vitest.config.ts",
  "vitest.parts.ts",
  "vitest.workspace.ts"
]
const typescript = [...sources, ...tests]

/** Only programs and threads may run an effect: everything else returns one. */
const entries = [
  "packages/*/src/main.ts",
  "packages/cli/src/{completion,run}/main.ts",
  "packages/client/src/promise.ts",
  "packages/client/src/promise/Calls.ts",
  "packages/client-effect4/src/Reload.ts",
  "packages/console/src/client/{Client,Run}.ts",
  "packages/mcp/src/Calls.ts",
  "packages/server/src/**/*Worker.ts"
]
/** Only these may read the environment: everything else is given its settings. */
const settings = [
  "packages/*/src/main.ts",
  "packages/*/src/**/Config.ts",
  "packages/*/src/**/Settings.ts",
  "packages/client/src/testing/TestSettings.ts",
  "packages/client/src/internal/Variables.ts"
]

const run = {
  selector: "MemberExpression[object.name=/^(Effect|NodeRuntime)$/][property.name=/^run[A-Z]/]",
  message: "Return the effect: only main.ts runs one."
}

const syntax = [
  { selector: "TryStatement", message: "Use Effect.try, Effect.tryPromise, Either.try or Effect.acquireRelease." },
  { selector: "ThrowStatement", message: "Fail with a typed error, or Effect.die for impossible cases." },
  { selector: "ExportDefaultDeclaration", message: "Export it by name." },
  { selector: "ExportSpecifier[exported.name='default']", message: "Export it by name." },
  { selector: "ExportAllDeclaration", message: "No barrels: import from the module that declares the name." },
  { selector: "VariableDeclarator[definite=true]", message: "Initialize it at its declaration." },
  { selector: "PropertyDefinition[definite=true]", message: "Initialize it in the constructor." },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: "Use Clock.currentTimeMillis or DateTime.now: tests set the time."
  },
  {
    selector: "CallExpression[callee.name='Date']",
    message: "Use Clock.currentTimeMillis or DateTime.now: tests set the time."
  }
]

const environment = {
  object: "process",
  property: "env",
  message: "Use the settings: only main.ts, Config.ts, Settings.ts and Variables.ts read the environment."
}

const properties = [
  { object: "Date", property: "now", message: "Use Clock.currentTimeMillis or DateTime.now: tests set the time." },
  { object: "Math", property: "random", message: "Use Random, or node:crypto for secret values." }
]

/** The root of a package has all of its modules as values, which esbuild then bundles whole. */
const roots = ["effect", "@effect/cli", "@effect/platform", "@effect/platform-node", "@effect/sql"].map((name) => ({
  name,
  message: `Import its modules: import * as Effect from "effect/Effect".`,
  allowTypeImports: true
}))
const imports = {
  paths: [
    { name: "node:process", message: "Use the global `process`." },
    { name: "process", message: "Use the global `process`." },
    ...roots
  ]
}

/** Imports that break the one direction of the packages: the programs know `client`, which knows `domain`, which knows nobody. */
const programs = {
  group: ["@coffer/server/*", "@coffer/cli/*", "@coffer/mcp/*"],
  message:
    "Programs must not import each other, except the client's lazy import() of the key rotation, and the tools that the server serves too.",
  allowTypeImports: true
}

/** Features know the database by its port: another engine is a folder of its own. */
const engines = {
  group: [
    "**/database/{sqlite,postgres}/**",
    "better-sqlite3",
    "mysql2",
    "pg",
    "@effect/sql",
    "@effect/sql/*",
    "@effect/sql-*"
  ],
  message: "Use the port: database/Database.ts, Query.ts and Erasures.ts."
}
/** The rooms of a package have one order: a room imports only itself and the rooms before it. */
const laterThan = (name, room) => {
  const later = layers[name].slice(layers[name].indexOf(room) + 1)
  const message = `${room}/ must not import a later room: see docs/internals/architecture.md.`
  return later.length === 0 ? [] : [{ regex: `^(\\.\\./)+(${later.join("|")})/`, message }]
}

/** Forbids imports in a room. The options of a rule replace those before, so each room has them all. */
const restricted = (files, patterns, { ignores = [], paths = [] } = {}) => ({
  files,
  ignores,
  rules: {
    "@typescript-eslint/no-restricted-imports": ["error", { paths: [...imports.paths, ...paths], patterns }]
  }
})

/**
 * Code that may import an engine: what composes the server, the port itself, and the operator's programs and threads for a
 * database file.
 */
const aware = [
  "packages/server/src/database/{sqlite,postgres,copy}/**",
  // The databases of others, whose credentials are renewed.
  "packages/server/src/secrets/connections/MySqlLogin.ts",
  "packages/server/src/secrets/connections/Postgres.ts",
  "packages/server/src/secrets/connections/PostgresLogin.ts",
  "packages/server/src/database/Database.ts",
  "packages/server/src/database/GuardedConnection.ts",
  "packages/server/src/database/SqlErrors.ts",
  "packages/server/src/main.ts",
  "packages/server/src/Server.ts",
  "packages/server/src/operations/backups/Apply.ts",
  "packages/server/src/operations/backups/DrillWorker.ts",
  "packages/server/src/operations/backups/FillEmpty.ts",
  "packages/server/src/operations/backups/OfflineDrill.ts",
  "packages/server/src/operations/{Engine,PostgresEngine,copy/*,dev/DevFolder,offline/*}.ts",
  "packages/server/src/operations/check/{Database,Postgres}Checks.ts",
  "packages/server/src/operations/rotation/{Rotation,StoppedDatabase}.ts"
]

/** A new version of the SDK then changes few modules. */
const sdk = {
  group: ["@modelcontextprotocol/*", "zod", "zod/*"],
  message: "Only Protocol.ts, the questions to hosts and the two doors know the SDK: use the types of ToolResult.ts."
}

/** The contract stands alone. */
const contract = [
  { group: ["@coffer/*"], message: "The contract must not import other packages." },
  { group: ["node:*"], message: "The contract runs in browsers too." }
]

/** The functions of Node that write, create, move or link files. */
const writes = [
  ...["appendFile", "copyFile", "cp", "link", "mkdtemp", "open", "rename", "symlink", "truncate", "write", "writeFile"],
  ...["createWriteStream", "ftruncate", "promises", "writev"]
].flatMap((name) => [name, `${name}Sync`])
const oneWriter = "Write a file for the user by output/OutputFile.ts, which replaces no file of others."
const fileWrites = [
  ...["node:fs", "fs"].map((name) => ({ name, importNames: [...writes, "default"], message: oneWriter })),
  ...["node:fs/promises", "fs/promises"].map((name) => ({
    name,
    importNames: [...writes, "default"],
    message: oneWriter
  })),
  {
    name: "@coffer/client/internal/PrivateFile",
    importNames: ["stagePrivate", "writePrivate"],
    message: `Only for the client's own state. ${oneWriter}`
  }
]
/** The one writer; files of the client's own folders; standard streams and folders; and programs that are only read. */
const writers = [
  "packages/cli/src/output/{OutputFile,Record}.ts",
  "packages/cli/src/completion/{NameCache,main}.ts",
  "packages/cli/src/commands/master-key/MasterKeyOutput.ts",
  "packages/cli/src/main.ts",
  "packages/cli/src/run/{Executable,SecretFiles}.ts",
  "packages/cli/src/proxy/RunProxy.ts",
  "packages/cli/src/secrets/HistoryWarning.ts",
  "packages/cli/src/terminal/{Descriptor,Editor,Output,PrivateFolder}.ts"
]

export default defineConfig(
  globalIgnores(["**/dist/", "**/coverage/", ".cache/"]),
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  { plugins: { words }, rules: { "words/comment-opening": "error" } },

  {
    files: ["**/*.js", "**/*.mjs"],
    extends: [js.configs.recommended],
    languageOptions: { globals: globals.node },
    rules: { eqeqeq: "error", "prefer-const": "error", "no-var": "error" }
  },

  {
    files: typescript,
    extends: [js.configs.recommended, tseslint.configs.strictTypeChecked],
    languageOptions: {
      // One TypeScript program for all packages, from sources: faster than one per package, and without a build.
      parserOptions: { project: "./tsconfig.test.json", tsconfigRootDir: import.meta.dirname }
    },
    rules: {
      eqeqeq: "error",
      "object-shorthand": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/consistent-type-exports": "error",
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],

      // Rules that reject idioms of Effect.
      "require-yield": "off",
      "@typescript-eslint/no-confusing-void-expression": "off",
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "@typescript-eslint/no-extraneous-class": "off",
      "@typescript-eslint/no-invalid-void-type": "off",
      "@typescript-eslint/no-misused-spread": ["error", { allow: ["string"] }],
      "@typescript-eslint/no-namespace": ["error", { allowDeclarations: true }],
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "@typescript-eslint/only-throw-error": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/unbound-method": "off",

      // Patterns check names and values for control characters.
      "no-control-regex": "off"
    }
  },

  // The console runs in a browser: it is a program of its own, with other globals.
  {
    files: ["packages/console/**/*.{ts,tsx}"],
    languageOptions: { parserOptions: { project: "./packages/console/tsconfig.test.json" } }
  },

  {
    files: sources,
    rules: {
      "no-console": "error",
      "no-restricted-syntax": ["error", ...syntax, run],
      "no-restricted-properties": ["error", ...properties, environment],
      "@typescript-eslint/consistent-type-assertions": ["error", { assertionStyle: "never" }],
      "@typescript-eslint/no-restricted-imports": ["error", { ...imports, patterns: [programs] }]
    }
  },
  {
    files: ["packages/server/src/*.ts"],
    ignores: aware,
    rules: {
      "@typescript-eslint/no-restricted-imports": ["error", { ...imports, patterns: [programs, engines] }]
    }
  },
  ...layers.server.flatMap((room) => {
    const later = laterThan("server", room)
    const [folder, exempt] = [`packages/server/src/${room}/`, aware.filter((path) => path.includes(`/src/${room}/`))]
    return [
      restricted([`${folder}**/*.ts`], [programs, engines, ...later]),
      ...(exempt.length === 0 ? [] : [restricted(exempt, [programs, ...later])])
    ]
  }),
  restricted(["packages/domain/src/*.ts"], contract),
  ...layers.domain.map((room) =>
    restricted([`packages/domain/src/${room}/**/*.ts`], [...contract, ...laterThan("domain", room)])
  ),
  {
    files: ["packages/domain/src/**/*.ts"],
    rules: {
      "no-restricted-globals": [
        "error",
        ...["Buffer", "process"].map((name) => ({ name, message: "Only Node has it." }))
      ]
    }
  },
  restricted(["packages/cli/src/*.ts"], [programs], { ignores: writers, paths: fileWrites }),
  ...layers.cli.flatMap((room) => {
    const patterns = [programs, ...laterThan("cli", room)]
    const [folder, some] = [
      `packages/cli/src/${room}/**/*.ts`,
      writers.filter((path) => path.includes(`/src/${room}/`))
    ]
    return [
      restricted([folder], patterns, { paths: fileWrites }),
      ...(some.length === 0 ? [] : [restricted(some, patterns)])
    ]
  }),
  ...layers.console.map((room) =>
    restricted([`packages/console/src/${room}/**/*.{ts,tsx}`], [programs, ...laterThan("console", room)])
  ),
  {
    files: ["packages/mcp/src/**/*.ts"],
    ignores: ["packages/mcp/src/{Elicitation,HttpDoor,Protocol,RoundsHost,ToolServer}.ts"],
    rules: { "@typescript-eslint/no-restricted-imports": ["error", { ...imports, patterns: [programs, sdk] }] }
  },
  // The tools have two doors, and one of them is the server's.
  restricted(["packages/server/src/edges/mcp/*.ts"], [engines, ...laterThan("server", "edges")]),
  {
    // The SDK deprecates its server below `McpServer`, which takes schemas of its own kinds alone, for all but cases like this one.
    files: ["packages/mcp/src/Protocol.ts"],
    rules: { "@typescript-eslint/no-deprecated": "off" }
  },
  { files: settings, rules: { "no-restricted-properties": ["error", ...properties] } },
  { files: entries, rules: { "no-restricted-syntax": ["error", ...syntax] } },
  // Callers without Effect expect exceptions.
  {
    files: [
      "packages/client/src/promise.ts",
      "packages/client/src/{promise,testing}/*.ts",
      "packages/client/src/internal/Renewal.ts",
      "packages/client-effect4/src/Reload.ts"
    ],
    rules: {
      "no-restricted-syntax": ["error", ...syntax.filter(({ selector }) => !/^(Throw|Try)Statement$/.test(selector))]
    }
  },

  {
    files: tests,
    rules: {
      "words/test-title": "error",
      "@typescript-eslint/no-base-to-string": "off",
      "@typescript-eslint/no-dynamic-delete": "off",
      "@typescript-eslint/no-empty-function": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unnecessary-condition": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off"
    }
  },
  // vitest 3 still accepts a workspace file; its successor is `test.projects` in the root configuration.
  { files: ["vitest.workspace.ts"], rules: { "@typescript-eslint/no-deprecated": "off" } }
)
