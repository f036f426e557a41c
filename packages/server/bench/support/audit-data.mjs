/** Audit entries for stores of both engines, see `stores.mjs`. */
import { createSecretKey } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { headMac, link } from "../../dist/audit/Chain.js"
import { termKey, termsOf } from "../../dist/audit/SearchTerms.js"
import { makeKeyring, unwrapBytes } from "../../dist/keys/Keyring.js"
import { masterKey } from "./coffer.mjs"
import { orgId } from "./data.mjs"

/** The places of some kinds of entries, inserted where they are new. Returns the id of each by `termKey`. */
const addPlaces = async (store, log, places) => {
  const known = await store.all(
    "SELECT id, log, project, env, keys, actor_name FROM audit_places WHERE log IN (?, '')",
    log
  )
  const ids = new Map(known.map(({ id, ...place }) => [termKey(place), id]))
  for (const place of places) {
    const name = termKey(place)
    if (ids.has(name)) continue
    const { id } = await store.one(
      "INSERT INTO audit_places (log, project, env, keys, actor_name) VALUES (?, ?, ?, ?, ?) RETURNING id",
      place.log,
      place.project,
      place.env,
      place.keys,
      place.actor_name
    )
    await store.insert(
      "audit_place_keys",
      place.members.map((key) => ({ key, log: place.log, place: id }))
    )
    ids.set(name, id)
  }
  return ids
}

/** Indexes the entries of a log above a number and records their actors, as the follower does. */
const postAuditEntries = async (store, log, behind) => {
  const kinds = await store.all(
    `SELECT DISTINCT actor_id, actor_name, action, resource_type, metadata FROM audit_entries
    WHERE log = ? AND seq > ?`,
    log,
    behind
  )
  const placed = kinds.flatMap((kind) =>
    termsOf({ log, ...kind }).flatMap((place) => place.actors.map((posted) => ({ kind, place, posted })))
  )
  const ids = await addPlaces(
    store,
    log,
    placed.map(({ place }) => place)
  )
  // Columns of the entries' types and collations.
  await store.all(
    `CREATE TEMP TABLE kinds AS SELECT position AS place, actor_id, action, resource_type, metadata, actor_id AS posted
    FROM audit_entries WHERE 1 = 0`
  )
  await store.insert(
    "kinds",
    placed.map(({ kind: { action, actor_id, metadata, resource_type }, place, posted }) => ({
      place: ids.get(termKey(place)),
      posted,
      actor_id,
      action,
      resource_type,
      metadata
    }))
  )
  await store.all("CREATE INDEX kinds_by_entry ON kinds (metadata, actor_id, action, resource_type)")
  await store.all("ANALYZE kinds")
  const found = `audit_entries e JOIN kinds k ON k.metadata = e.metadata AND k.actor_id = e.actor_id
    AND k.action = e.action AND k.resource_type = e.resource_type WHERE e.log = ? AND e.seq > ?`
  await store.all(
    `INSERT INTO audit_place_counters (place, actor_id, action, resource_type, entries)
    SELECT k.place, k.posted, e.action, e.resource_type, count(*) FROM ${found} GROUP BY 1, 2, 3, 4
    ON CONFLICT (place, actor_id, action, resource_type)
      DO UPDATE SET entries = audit_place_counters.entries + excluded.entries`,
    log,
    behind
  )
  await store.all(
    `INSERT INTO audit_postings (run, position)
    SELECT c.id, f.position FROM (SELECT k.place, k.posted, e.action, e.resource_type, e.position FROM ${found}) f
    JOIN audit_place_counters c ON c.place = f.place AND c.actor_id = f.posted AND c.action = f.action
      AND c.resource_type = f.resource_type ORDER BY 1, 2`,
    log,
    behind
  )
  await store.all("DROP TABLE kinds")
  await store.all(
    `INSERT INTO audit_actors (log, actor_name, actor_id)
    SELECT DISTINCT log, actor_name, actor_id FROM audit_entries WHERE log = ? AND seq > ?
    ON CONFLICT DO NOTHING`,
    log,
    behind
  )
}

/** The key of the chains of a database. */
const auditKeyOf = async (store) => {
  const wrapped = await store.one("SELECT format, kek_id, nonce, ciphertext FROM wrapped_keys WHERE name = 'audit'")
  const keyring = Effect.runSync(makeKeyring(Redacted.make(masterKey)))
  return createSecretKey(Effect.runSync(unwrapBytes(keyring, "audit", wrapped)))
}

const every20Keys = JSON.stringify(Array.from({ length: 20 }, (_, index) => ({ key: `KEY_${index}`, version: 1 })))

/** The entry of a number. Rare ones are among the oldest. */
const entryOf = (log, seq) => {
  const rare = seq <= 1000 ? seq % 50 : 0
  const project = rare === 11 ? "legacy" : seq % 5 === 0 ? "api" : "web"
  const env = ["dev", "staging", "prod"][seq % 3]
  const keys = seq % 100 === 99 ? `"keys":${every20Keys}` : `"key":"KEY_${seq % 20}"`
  return {
    id: `00000000-0000-7000-8000-${String(seq).padStart(12, "0")}`,
    log,
    org_id: log,
    actor_type: "user",
    actor_id: `actor-${seq % 50}`,
    actor_name: `user-${seq % 50}@example.com`,
    action: rare === 7 ? "secret.delete" : seq % 10 === 0 ? "secret.set" : "secret.read",
    resource_type: rare === 9 ? "env" : "secret",
    resource_id: "resource",
    ip_address: "203.0.113.7",
    metadata: `{"project":"${project}","env":"${env}",${keys}}`
  }
}

const entriesAtOnce = 1_000

/**
 * Adds audit entries to an organization, up to a number, one per second: mostly reads by 50 actors, of 20 keys in two
 * projects with three environments. One in 100 is a read of a whole environment. A rare action, resource type and project
 * have 20 entries each, among the oldest. The server's own functions chain them, and the log verifies with its search index.
 */
export const addAuditEntries = async (store, org, upTo) => {
  const log = await orgId(store, org)
  const key = await auditKeyOf(store)
  const head = await store.one("SELECT seq, chain, created_at FROM audit_heads WHERE log = ?", log)
  const indexed = await store.one("SELECT coalesce(max(seq), 0) AS seq FROM audit_indexed WHERE log = ?", log)
  const before = Number(head.seq)
  const begun = Date.parse(head.created_at)
  const stampOf = (seq) => ({ seq, created_at: new Date(begun + (seq - before) * 1000).toISOString() })
  let { chain } = head
  await store.inBulk(["audit_entries", "audit_postings"], async () => {
    for (let first = before + 1; first <= upTo; first += entriesAtOnce) {
      const rows = Array.from({ length: Math.min(entriesAtOnce, upTo - first + 1) }, (_, index) => {
        const stamp = stampOf(first + index)
        const entry = entryOf(log, stamp.seq)
        chain = link(key, chain, entry, stamp)
        return { ...entry, ...stamp, chain }
      })
      await store.insert("audit_entries", rows)
    }
    await postAuditEntries(store, log, Number(indexed.seq))
  })
  const end = { log, chain, ...stampOf(upTo) }
  await store.all(
    "UPDATE audit_heads SET seq = ?, chain = ?, created_at = ?, mac = ? WHERE log = ?",
    upTo,
    chain,
    end.created_at,
    headMac(key, end),
    log
  )
  await store.all(
    `INSERT INTO audit_indexed (log, seq) VALUES (?, ${upTo}) ON CONFLICT (log) DO UPDATE SET seq = ${upTo}`,
    log
  )
}
