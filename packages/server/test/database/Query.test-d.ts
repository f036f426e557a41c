// @effect-diagnostics missingEffectContext:off floatingEffect:off
import { Database } from "@coffer/server/database/Database"
import { query, sql } from "@coffer/server/database/Query"
import { Effect, Schema } from "effect"

// Statements that do not compile. Each line compiles where the rule above it is given up.

const Row = Schema.Struct({ id: Schema.String })

/** Where no transaction is open. */
declare const outside: <A, E>(effect: Effect.Effect<A, E>) => void

export const statements = Effect.map(Effect.all([query, Database]), ([{ first, returning, run, write }, database]) => {
  const find = first(Row)`SELECT id FROM things WHERE id = ${"id"} AND name = ${"name"}`
  const rename = write`UPDATE things SET name = ${"name"} WHERE id = ${"id"}`
  const claim = returning(Row)`UPDATE things SET revision = revision + 1 WHERE id = ${"id"} RETURNING id`
  const values = { id: "1", name: "one" }

  outside(find(values))
  outside(database.transaction(rename(values)))
  outside(database.transaction(Effect.zipRight(claim(values), find(values))))

  // A statement that writes needs a transaction.
  // @ts-expect-error -- none is open
  outside(rename(values))
  // @ts-expect-error -- none is open
  outside(claim(values))
  // @ts-expect-error -- a snapshot reads
  outside(database.snapshot(rename(values)))

  // Each parameter has a value, by its name.
  // @ts-expect-error -- name is missing
  find({ id: "1" })
  // @ts-expect-error -- id is missing
  rename({ name: "one" })
  // @ts-expect-error -- nmae is no parameter
  rename({ id: "1", nmae: "one" })
  // @ts-expect-error -- a part brings its own parameters
  run(Row)(sql`SELECT id FROM things WHERE ${sql`id = ${"id"}`}`, {})
  // @ts-expect-error -- undefined is no value of SQL
  find({ id: "1", name: undefined })

  // A value is a parameter, never a part of the text.
  // @ts-expect-error -- a number is neither a name nor a part
  return write`DELETE FROM things WHERE id = ${1}`
})
