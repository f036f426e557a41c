import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const source = join(import.meta.dirname, "../../src")

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))
const read = (path: string) => readFileSync(join(source, path), "utf8")

/** The files that begin a transaction by themselves, and why none of them writes as a server into a shared database. */
const beginners: Readonly<Record<string, string>> = {
  "database/postgres/Begin.ts": "makes what begins the transactions of servers, with the fence",
  "database/postgres/DatabaseFence.ts": "only reads the fence",
  "database/postgres/Migrations.ts": "moves the fence, or changes nothing that older servers use",
  "database/copy/PostgresSides.ts": "only reads",
  "operations/copy/Origin.ts": "moves the fence, and then only reads",
  "database/copy/NewFile.ts": "a file of its own",
  "database/copy/SqliteSides.ts": "only reads a file that is locked",
  "database/sqlite/GroupCommit.ts": "the file is locked, and compared before COMMIT",
  "database/sqlite/Lock.ts": "is the lock",
  "secrets/connections/Postgres.ts": "an operator's database: it commits only after the fence of ours was compared"
}

describe("the fence of a database", () => {
  it("is passed by every transaction: no other file begins one", () => {
    const found = files.filter((path) => /["'`]BEGIN\b/.test(read(path)))
    assert.deepStrictEqual(
      found.filter((path) => !(path in beginners) && !path.includes("/sqlite/")),
      []
    )
    assert.includeMembers(found, ["database/postgres/Begin.ts"])
  })

  it("is compared by every statement that reads who a credential belongs to", () => {
    const actors = read("access/caller/ActorRepo.ts")
    const statements = actors.match(/\bsql`\s*SELECT \w+\.id AS \w+_id/g) ?? []
    assert.lengthOf(statements, 5)
    assert.lengthOf(actors.match(/WHERE \$\{fenceCheck\} AND/g) ?? [], statements.length)
  })

  it("is the only statement that divides: its error means another fence", () => {
    const divided = files.filter((path) =>
      /[`"][^`";]*\bSELECT\b[^`";]*[\w)] \/ [\w(]/.test(read(path).replace(/\$\{[^}]*\}/g, ""))
    )
    assert.deepStrictEqual(divided, ["database/postgres/DatabaseFence.ts"])
  })
})
