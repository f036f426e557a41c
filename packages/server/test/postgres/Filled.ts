import { SqlClient } from "@effect/sql"
import { hashToken, mintToken } from "@coffer/server/keys/Token"
import { Clock, Effect, Redacted } from "effect"
import {
  account,
  enter,
  envPath,
  member,
  newProject,
  organization,
  removeSecret,
  setSecret,
  uuid
} from "../support/Services.js"

const stamp = "2026-01-01T00:00:00.000Z"

/** How many secrets a filled database has beside those that are changed, removed or refer to another. */
export const secrets = 120

/** The token of the delegation in a filled database. */
export const delegation = Effect.runSync(mintToken("delegation"))

/** A database with changed, removed and plain secrets of two organizations, a session, a delegation, a pending code and an API key. */
export const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ada = yield* organization()
  const bob = yield* organization("umbrella", "hive", "bob@example.com")
  yield* member("carol@example.com", "developer")
  yield* newProject(ada, "blog")
  for (const text of ["one", "two", "three"]) yield* setSecret(ada, "CHANGED", text)
  yield* setSecret(ada, "REFERS", "${CHANGED}!", { kind: "reference" })
  yield* setSecret(ada, "REMOVED", "gone")
  yield* removeSecret(ada, "REMOVED")
  yield* setSecret(bob, "UNICODE", "Grüße, \u{1f511}\n", { path: envPath("prod", "hive", "umbrella") })
  for (let number = 0; number < secrets; number++) yield* setSecret(ada, `KEY_${number}`, `value ${number}`)
  const robot = yield* account("robot")
  yield* sql`INSERT INTO api_keys ${sql.insert({ id: uuid(), service_account_id: robot.id, token_hash: "a".repeat(64), hint: "abcd", created_at: stamp })}`
  yield* sql`INSERT INTO sessions ${sql.insert({ id: uuid(), user_id: ada.id, token_hash: "0".repeat(64), created_at: stamp, last_used_at: stamp })}`
  const dev = yield* enter(ada, "secret.read")
  const now = yield* Clock.currentTimeMillis
  yield* sql`INSERT INTO delegations ${sql.insert({ id: uuid(), user_id: ada.id, org_id: dev.org.id, env_id: dev.env.id, name: "claude", token_hash: hashToken(Redacted.value(delegation)), permission: "read", reveal: 1, keys: '["CHANGED"]', created_at: now, expires_at: now + 86_400_000 })}`
  yield* sql`INSERT INTO login_codes ${sql.insert({ id: uuid(), email: "ada@example.com", mac: new Uint8Array([0, 255]), state: "pending", created_at: stamp, expires_at: stamp })}`
  yield* sql`INSERT INTO drills ${sql.insert({ backup_id: uuid(), drilled_at: stamp, seconds: 1.25, valid: 1 })}`
  yield* sql`INSERT INTO secret_dues (secret_id, org_id, env_id, owner, expires_at, due_at, event_at)
    SELECT s.id, p.org_id, s.env_id, 'ada@example.com', ${stamp}, ${stamp}, ${stamp}
    FROM secrets s JOIN environments e ON e.id = s.env_id JOIN projects p ON p.id = e.project_id WHERE s.key = 'CHANGED'`
  yield* sql`INSERT INTO due_mails ${sql.insert({ user_id: ada.id, mailed_at: stamp })}`
  return ada
})
