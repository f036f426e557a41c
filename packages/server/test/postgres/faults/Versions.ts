import { rowTypes } from "@coffer/server/database/postgres/Connection"
import { makeKeyring } from "@coffer/server/keys/Keyring"
import { Effect, Redacted } from "effect"
import { Client } from "pg"
import { assert } from "vitest"
import { masterKey } from "../../support/Program.js"
import { type StoredVersion, storedVersions, valueOf } from "../../support/StoredVersions.js"
import type { Versions } from "./History.js"

/** Reads and decrypts all versions of a database, whose numbers must have no gap and repeat none. */
export const versionsOf = async (url: string): Promise<Versions> => {
  const client = new Client({ connectionString: url, types: rowTypes })
  await client.connect()
  const { rows } = await client.query<StoredVersion>(`${storedVersions} ORDER BY s.key, v.version`)
  await client.end()
  const found = new Map<string, Array<string>>()
  const keyring = await Effect.runPromise(makeKeyring(Redacted.make(masterKey)))
  for (const row of rows) {
    const values = found.get(row.key) ?? []
    found.set(row.key, values)
    assert.strictEqual(row.version, values.length + 1, `${row.key}: its versions have no gap and repeat none`)
    values.push(await Effect.runPromise(valueOf(keyring, row)))
  }
  return found
}
