import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { refusalOf, rules } from "../support/Scoped.js"
import { onDatabase, raw } from "../support/Services.js"

describe("the table of scopes", () => {
  it.effect("has a row for each table of the schema, and no other", () =>
    Effect.gen(function* () {
      const tables = (yield* raw)
        .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        .pluck()
        .all()
        .filter((name) => !name.endsWith("_migrations"))
      // Only PostgreSQL has the table erasures.
      assert.sameMembers([...new Set([...tables, "erasures"])], Object.keys(rules))
    }).pipe(onDatabase())
  )

  it("refuses a write without its scope, of any form", () => {
    for (const text of [
      "INSERT INTO secrets (id) VALUES ($1)",
      "UPDATE secrets SET key = $1 WHERE id = $2",
      "DELETE FROM secrets WHERE id = $1",
      "WITH gone AS (DELETE FROM secrets RETURNING id) SELECT id FROM gone"
    ]) {
      assert.match(refusalOf(text, ["server", "user"]) ?? "", /^secrets is written without a scope of org/)
      assert.isUndefined(refusalOf(text, ["org"]))
    }
    assert.isUndefined(refusalOf("INSERT INTO rate_events (id) VALUES ($1) ON CONFLICT DO UPDATE SET id = $1", []))
    assert.match(refusalOf("INSERT INTO unknown (id) VALUES ($1)", ["org"]) ?? "", /no row in the table of scopes/)
    assert.isUndefined(refusalOf("SELECT id FROM secrets", []))
  })
})
