import { ServerUsage } from "@coffer/domain/server/ServerFacts"
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.js"
import { query, sql } from "../../database/Query.js"

/** Counts what is on the server, in one statement over two small tables. */
export const readUsage = Effect.gen(function* () {
  const { sizeExpression } = yield* Database
  const { one } = yield* query
  const usage = one(ServerUsage)`
    SELECT ${sql([sizeExpression])} AS database_bytes,
      (SELECT count(*) FROM organizations WHERE removed_at IS NULL) AS organizations,
      (SELECT count(*) FROM users WHERE disabled_at IS NULL) AS people,
      (SELECT count(*) FROM users WHERE disabled_at IS NULL AND superadmin = 1) AS superadmins,
      (SELECT count(*) FROM users WHERE disabled_at IS NOT NULL) AS disabled`
  return usage({})
})
