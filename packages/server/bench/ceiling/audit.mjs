import { createHmac } from "node:crypto"

const genesis = "0".repeat(64)
const batchMillis = 25
const batchSize = 200

/** Coffer's audit log: entries chained by HMAC, a head per log, counters of all logs, and batched entries of reads. */
export const openAudit = (database, key) => {
  const head = database.prepare("SELECT seq, chain FROM audit_heads WHERE log = ?")
  const insert = database.prepare(`
    INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
      resource_id, ip_address, metadata, created_at, chain)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const count = database.prepare(`
    INSERT INTO audit_place_counters (place, actor_id, action, resource_type, entries) VALUES (0, ?, ?, ?, ?)
    ON CONFLICT (place, actor_id, action, resource_type) DO UPDATE SET entries = entries + excluded.entries`)
  const setHead = database.prepare(`
    INSERT INTO audit_heads (log, seq, chain, created_at, mac) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, created_at = excluded.created_at,
      mac = excluded.mac`)

  const link = (previous, e, seq, at) =>
    createHmac("sha256", key)
      .update(previous)
      .update(
        JSON.stringify([
          "coffer/audit-entry/1",
          e.id,
          e.log,
          seq,
          e.org_id,
          e.actor_type,
          e.actor_id,
          e.actor_name,
          e.action,
          e.resource_type,
          e.resource_id,
          e.ip_address,
          e.metadata,
          at
        ])
      )
      .digest("hex")

  /** Appends entries of one log, inside the caller's transaction. */
  const now = (entries) => {
    const { log } = entries[0]
    const at = new Date().toISOString()
    let { chain, seq } = head.get(log) ?? { chain: genesis, seq: 0 }
    const counts = new Map()
    for (const e of entries) {
      chain = link(chain, e, ++seq, at)
      insert.run(
        e.id,
        log,
        seq,
        e.org_id,
        e.actor_type,
        e.actor_id,
        e.actor_name,
        e.action,
        e.resource_type,
        e.resource_id,
        e.ip_address,
        e.metadata,
        at,
        chain
      )
      const kind = `${e.actor_id} ${e.action} ${e.resource_type}`
      const counted = counts.get(kind)
      if (counted === undefined) counts.set(kind, { e, entries: 1 })
      else counted.entries++
    }
    for (const { e, entries: number } of counts.values()) count.run(e.actor_id, e.action, e.resource_type, number)
    const mac = createHmac("sha256", key).update(JSON.stringify(["coffer/audit-head/1", log, seq, chain, at]))
    setHead.run(log, seq, chain, at, mac.digest("hex"))
  }

  const append = database.transaction((entries) => {
    for (const group of Object.values(grouped(entries))) now(group)
  })
  let queue = []
  let timer
  const flush = () => {
    timer = undefined
    for (let at = 0; at < queue.length; at += batchSize) append.immediate(queue.slice(at, at + batchSize))
    queue = []
  }
  const later = (entry) => {
    queue.push(entry)
    timer ??= setTimeout(flush, batchMillis)
  }
  return { now, later, flush }
}

const grouped = (entries) => {
  const groups = {}
  for (const entry of entries) (groups[entry.log] ??= []).push(entry)
  return groups
}
