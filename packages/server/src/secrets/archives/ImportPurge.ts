import { OrgId } from "@coffer/domain/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { nextTick } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { Database, type Transaction } from "../../database/Database.js"
import { databaseTime, query } from "../../database/Query.js"
import { orgScope } from "../../database/Scopes.js"

/** The values of how many secrets one transaction erases. */
const secretsAtOnce = 50

const nothing = new Uint8Array(0)

const EndedRow = Schema.Struct({ org_id: OrgId })
const IdRow = Schema.Struct({ id: Schema.String })

/**
 * Gives up imports that have ended unfinished: erases the values and what was to come. Their organizations stay behind as removed
 * ones, which nobody has seen.
 */
export const makeImportPurge = Effect.gen(function* () {
  const { change } = yield* Database
  const { all, first, write } = yield* query

  const ended = first(EndedRow)`
    SELECT org_id FROM imports WHERE expires_at <= ${databaseTime} ORDER BY expires_at LIMIT 1`

  /** An import that was finished in time has no row any more: its organization is live. */
  const isEnded = first(EndedRow)`
    SELECT org_id FROM imports WHERE org_id = ${"orgId"} AND expires_at <= ${databaseTime}`

  const secretsAfter = all(IdRow)`
    SELECT s.id AS id FROM projects p JOIN environments e ON e.project_id = p.id JOIN secrets s ON s.env_id = e.id
    WHERE p.org_id = ${"orgId"} AND s.id > ${"after"} ORDER BY s.id LIMIT ${"limit"}`

  const eraseValues = write`
    UPDATE secret_versions SET wrapped_key = NULL, ciphertext = ${"nothing"}, destroyed_at = ${"now"}
    WHERE secret_id = ${"id"} AND destroyed_at IS NULL`

  const forgetPeople = write`DELETE FROM import_use_people WHERE org_id = ${"orgId"}`
  const forget = write`DELETE FROM imports WHERE org_id = ${"orgId"}`

  const whileEnded = <A>(orgId: OrgId, step: Effect.Effect<A, never, Transaction>) =>
    change(
      [orgScope(orgId)],
      Effect.flatMap(isEnded({ orgId }), (found) => (found === undefined ? Effect.succeed(null) : step))
    )

  const giveUp = Effect.fnUntraced(function* (orgId: OrgId) {
    for (let after = ""; ;) {
      const secrets = yield* secretsAfter({ orgId, after, limit: secretsAtOnce })
      const last = secrets.at(-1)
      if (last === undefined) break
      const at = yield* now
      yield* whileEnded(
        orgId,
        Effect.forEach(secrets, ({ id }) => eraseValues({ id, nothing, now: at }), { discard: true })
      )
      after = last.id
      yield* nextTick
    }
    yield* whileEnded(orgId, Effect.zipRight(forgetPeople({ orgId }), forget({ orgId })))
  })

  return Effect.gen(function* () {
    for (let found = yield* ended({}); found !== undefined; found = yield* ended({})) yield* giveUp(found.org_id)
  })
})
