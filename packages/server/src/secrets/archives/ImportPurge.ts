import { EnvId, OrgId, SecretId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { nextTick } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { Database, type Transaction } from "../../database/Database.js"
import { databaseTime, query } from "../../database/Query.js"
import { orgScope } from "../../database/Scopes.js"
import { importRepo } from "./ImportRepo.js"

/** How many rows one transaction erases. */
const rowsAtOnce = 200

const nothing = new Uint8Array(0)

const EndedRow = Schema.Struct({ org_id: OrgId })
const EnvRow = Schema.Struct({ id: EnvId })
const VersionRow = Schema.Struct({ id: SecretId, key: Schema.String, version: Schema.Number })
const MemberRow = Schema.Struct({ id: Schema.String })

/**
 * Gives up imports that have ended unfinished: erases the values, who was to be a member, and what was to come. Their organizations
 * stay behind as removed ones, which nobody has seen.
 */
export const makeImportPurge = Effect.gen(function* () {
  const { change } = yield* Database
  const { all, first, returning, write } = yield* query
  const imports = yield* importRepo

  const ended = first(EndedRow)`
    SELECT org_id FROM imports WHERE expires_at <= ${databaseTime} ORDER BY expires_at LIMIT 1`

  /** An import that was finished in time has no row any more: its organization is live. */
  const isEnded = first(EndedRow)`
    SELECT org_id FROM imports WHERE org_id = ${"orgId"} AND expires_at <= ${databaseTime}`

  const environmentsAfter = all(EnvRow)`
    SELECT e.id AS id FROM projects p JOIN environments e ON e.project_id = p.id
    WHERE p.org_id = ${"orgId"} AND e.revision > 0 AND e.id > ${"after"} ORDER BY e.id LIMIT ${"limit"}`

  const versionsAfter = all(VersionRow)`
    SELECT s.id AS id, s.key AS key, v.version AS version
    FROM secrets s JOIN secret_versions v ON v.secret_id = s.id
    WHERE s.env_id = ${"envId"} AND s.removed_at IS NULL
      AND s.key >= ${"key"} AND (s.key > ${"key"} OR v.version > ${"version"})
    ORDER BY s.key, v.version LIMIT ${"limit"}`

  const eraseValue = write`
    UPDATE secret_versions SET wrapped_key = NULL, ciphertext = ${"nothing"}, destroyed_at = ${"now"}
    WHERE secret_id = ${"id"} AND version = ${"version"} AND destroyed_at IS NULL`

  const removeMembers = returning(MemberRow)`
    UPDATE members SET removed_at = ${"now"} WHERE id IN (
      SELECT m.id FROM members m WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL ORDER BY m.id LIMIT ${"limit"})
    RETURNING id`

  const forget = write`DELETE FROM imports WHERE org_id = ${"orgId"}`

  const whileEnded = <A>(orgId: OrgId, step: Effect.Effect<A, never, Transaction>) =>
    change(
      [orgScope(orgId)],
      Effect.flatMap(isEnded({ orgId }), (found) => (found === undefined ? Effect.succeed(null) : step))
    )

  /** Repeats a step that returns how many rows it wrote, until it wrote none. */
  const whileAny = (orgId: OrgId, step: Effect.Effect<number, never, Transaction>) =>
    Effect.repeat(Effect.zipLeft(whileEnded(orgId, step), nextTick), { while: (count) => count !== null && count > 0 })

  const eraseEnvironment = Effect.fnUntraced(function* (orgId: OrgId, envId: EnvId) {
    for (let after = { key: "", version: 0 }; ;) {
      const versions = yield* versionsAfter({ envId, ...after, limit: rowsAtOnce })
      const last = versions.at(-1)
      if (last === undefined) return
      const at = yield* now
      yield* whileEnded(
        orgId,
        Effect.forEach(versions, ({ id, version }) => eraseValue({ id, version, nothing, now: at }), { discard: true })
      )
      after = { key: last.key, version: last.version }
      yield* nextTick
    }
  })

  const eraseValues = Effect.fnUntraced(function* (orgId: OrgId) {
    for (let after = ""; ;) {
      const environments = yield* environmentsAfter({ orgId, after, limit: rowsAtOnce })
      for (const { id } of environments) yield* eraseEnvironment(orgId, id)
      const last = environments.at(-1)
      if (last === undefined) return
      after = last.id
    }
  })

  const giveUp = Effect.fnUntraced(function* (orgId: OrgId) {
    yield* eraseValues(orgId)
    yield* whileAny(
      orgId,
      Effect.gen(function* () {
        const people = yield* imports.usePeople({ orgId, limit: rowsAtOnce })
        const last = people.at(-1)
        if (last !== undefined) yield* imports.forgetUsePeople({ orgId, rule: last.rule_id, position: last.position })
        return people.length
      })
    )
    yield* whileAny(
      orgId,
      Effect.flatMap(now, (at) =>
        Effect.map(removeMembers({ orgId, now: at, limit: rowsAtOnce }), (rows) => rows.length)
      )
    )
    yield* whileEnded(orgId, forget({ orgId }))
  })

  return Effect.gen(function* () {
    for (let found = yield* ended({}); found !== undefined; found = yield* ended({})) yield* giveUp(found.org_id)
  })
})
