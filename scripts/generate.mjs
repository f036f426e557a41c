/**
 * Writes every generated file of the repository, in the order of their dependencies. Tests fail if one is stale. Review the
 * diff of docs/cli.md and answers.txt, which are recorded from the running programs: it shows what changes for users.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../", import.meta.url))
const node = process.execPath
const bin = (name) => [node, `node_modules/${name}`]
const compile = ["compile the packages", ...bin("typescript/bin/tsc"), "-b"]

const steps = [
  ["packages/server/src/database/LaterMigrations.ts", node, "scripts/migrations.mjs"],
  compile,
  ["packages/server/src/database/sqlite/SchemaDigest.ts", node, "scripts/migrations.mjs", "--digest"],
  ["docs/api.md, docs/configuration.md, docs/observability.md", node, "scripts/reference.mjs"],
  ["packages/client/src/promise/Contract.ts, packages/client/src/promise/Routes.ts", node, "scripts/calls.mjs"],
  ["docs/licences.md", node, "scripts/licences.mjs"],
  ["docs/internals/architecture.svg", node, "scripts/architecture.mjs"],
  compile,
  ["bundle the programs", node, "scripts/bundle.mjs"],
  ["docs/cli.md", node, "scripts/record-cli.mjs"],
  // llms-full.txt contains docs/cli.md.
  ["the documents that the server hands out", node, "scripts/documents.mjs"],
  [
    "packages/server/test/api/answers.txt",
    ...bin("vitest/vitest.mjs"),
    ...["run", "-u", "--no-isolate", "--project", "server", "packages/server/test/api/Answers.long.test.ts"]
  ]
]

for (const [made, command, ...args] of steps) {
  process.stdout.write(`${made}\n`)
  const { status, stderr, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8" })
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}generate: failed at: ${made}\n`)
    process.exit(1)
  }
}
