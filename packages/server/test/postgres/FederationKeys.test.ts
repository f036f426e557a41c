import { keysOf } from "@coffer/server/directory/federations/Jwks"
import { migrate, migrations } from "@coffer/server/database/postgres/Migrations"
import { migrate as migrateFile, migrations as fileMigrations } from "@coffer/server/database/sqlite/Migrations"
import { clientOf } from "@coffer/server/database/sqlite/Connection"
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { generateKeyPairSync, type JsonWebKey } from "node:crypto"
import { freshDatabase, onServer, reached } from "../support/postgres/Databases.js"
import { freshPath } from "../support/Services.js"

const jwk = ({ publicKey }: { readonly publicKey: { export: (options: { format: "jwk" }) => JsonWebKey } }) =>
  publicKey.export({ format: "jwk" })
const rsa = { ...jwk(generateKeyPairSync("rsa", { modulusLength: 2_048 })) }
const ec = { ...jwk(generateKeyPairSync("ec", { namedCurve: "P-256" })) }
const ed = { ...jwk(generateKeyPairSync("ed25519")) }

/** Sets as earlier releases stored them. */
const keys = [
  { ...rsa, kid: "rsa", alg: "RS256", use: "sig", x5c: ["x".repeat(1_000), "\u0000\ud800"] },
  { ...ec, kid: "ec" },
  { ...ed },
  { ...rsa, kid: 7, alg: "RS512" },
  { ...ec, kid: "for encryption", use: "enc" }
]
const stored = JSON.stringify({ keys })
const moved = keysOf({ keys }).map((key, position) => ({ federation_id: "f", position, ...key }))
const odd = JSON.stringify({ keys: [{ ...ec, kid: "k".repeat(257) }] })

const insert = (id: string, jwks: string | null, removed: string | null) => ({
  columns:
    "id, service_account_id, org_id, name, issuer, audience, jwks, conditions, max_age, ttl, created_by, created_at, removed_at",
  values: [id, "a", "o", id, "https://i.example", "", jwks, "{}", 600, 900, "ada", "2026-01-01T00:00:00.000Z", removed]
})
const federations = [
  insert("f", stored, null),
  insert("fetched", null, null),
  insert("odd", odd, null),
  insert("removed", stored, "2026-01-01T00:00:00.000Z")
]
const cut = { federation_id: "odd", position: 0, ...keysOf({ keys: [ec] })[0], kid: "k".repeat(256), alg: null }
const found = "SELECT federation_id, position, kid, alg, jwk FROM federation_keys ORDER BY federation_id, position"

const without = <A>(all: Readonly<Record<string, A>>, name: string) =>
  Object.fromEntries(Object.entries(all).filter(([migration]) => migration < name))

describe("the migration of uploaded keys", () => {
  it.effect("moves them into rows on SQLite, as they are stored from then on", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const client = yield* clientOf(path)
      const provided = Effect.provideService(SqlClient.SqlClient, client)
      yield* migrateFile(path, without(fileMigrations, "0025")).pipe(provided)
      yield* client`PRAGMA foreign_keys = OFF`
      for (const { columns, values } of federations) {
        yield* client.unsafe(`INSERT INTO federations (${columns}) VALUES (${values.map(() => "?").join()})`, values)
      }
      yield* migrateFile(path, without(fileMigrations, "0026")).pipe(provided)
      assert.deepStrictEqual(yield* client.unsafe(found), [...moved, cut])
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.live("moves them into rows on PostgreSQL, as they are stored from then on", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase({ migrated: false })
      yield* migrate(yield* reached(url), { all: without(migrations, "0016") })
      yield* onServer(name, async (client) => {
        await client.query("SET session_replication_role = replica")
        for (const { columns, values } of federations) {
          const slots = values.map((_, index) => `$${index + 1}`).join()
          await client.query(`INSERT INTO federations (${columns}) VALUES (${slots})`, values)
        }
      })
      yield* migrate(yield* reached(url), { all: without(migrations, "0017") })
      const { rows } = yield* onServer(name, (client) => client.query(found))
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row, position: Number(row.position) })),
        [...moved, cut]
      )
    }).pipe(Effect.scoped)
  )
})
