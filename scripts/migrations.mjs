/**
 * Writes the list of migrations from their folder and, with `--digest`, the digest of the schema that they make, which needs the
 * compiled list. With `--check`, it only reports a stale list.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { format, resolveConfig } from "prettier"

const server = fileURLToPath(new URL("../packages/server/", import.meta.url))

const write = async (path, text) => {
  const found = readFileSync(path, "utf8")
  const wanted = await format(text, { ...(await resolveConfig(path)), filepath: path })
  if (found === wanted) return
  if (process.argv.includes("--check")) {
    process.stderr.write(`${path} is stale: run npm run generate\n`)
    process.exitCode = 1
    return
  }
  writeFileSync(path, wanted)
}

if (process.argv.includes("--digest")) {
  const { Effect } = await import("effect")
  const { currentDigest } = await import("../packages/server/dist/database/sqlite/Migrations.js")
  const digest = await Effect.runPromise(currentDigest)
  await write(
    `${server}src/database/sqlite/SchemaDigest.ts`,
    `/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
    export const schemaDigest = ${JSON.stringify(digest)}\n`
  )
} else {
  const folder = `${server}src/database/migrations`
  const migrations = readdirSync(folder)
    .sort()
    .map((file) => {
      const [, name] = /^export const (\w+): Migration = /m.exec(readFileSync(`${folder}/${file}`, "utf8")) ?? []
      if (name === undefined) throw new Error(`${file} has no "export const NAME: Migration"`)
      return { file: file.replace(/\.ts$/, ".js"), name }
    })
  await write(
    `${server}src/database/LaterMigrations.ts`,
    `/** Written by scripts/migrations.mjs from the folder migrations. */
    import type { Migration } from "./Migration.js"
    ${migrations.map(({ file, name }) => `import { ${name} } from "./migrations/${file}"`).join("\n")}

    /**
     * The migrations of both engines, in order, after those that each engine has in a folder of its own. Their files have SQLite's
     * numbers.
     */
    export const laterMigrations: ReadonlyArray<Migration> = [${migrations.map(({ name }) => name).join(", ")}]\n`
  )
}
