import { createHmac, timingSafeEqual, type KeyObject } from "node:crypto"

/** An entry as what happened makes it. */
export interface Draft {
  readonly id: string
  readonly log: string
  readonly org_id: string | null
  readonly actor_type: string
  readonly actor_id: string | null
  readonly actor_name: string
  readonly action: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly ip_address: string | null
  readonly metadata: string
}

/** What an entry gets as it is appended: the next number of its log, and the time. */
export interface Stamp {
  readonly seq: number
  readonly created_at: string
}

/** The link before the first. */
export const genesis = "0".repeat(64)

/** What the chain vouches for: all of an entry. */
const canonical = (entry: Draft, { created_at, seq }: Stamp): string =>
  JSON.stringify([
    "coffer/audit-entry/1",
    entry.id,
    entry.log,
    seq,
    entry.org_id,
    entry.actor_type,
    entry.actor_id,
    entry.actor_name,
    entry.action,
    entry.resource_type,
    entry.resource_id,
    entry.ip_address,
    entry.metadata,
    created_at
  ])

/** The link of an entry: HMAC-SHA256 (RFC 2104) over the link before and the entry, in lowercase hexadecimal. */
export const link = (key: KeyObject, previous: string, entry: Draft, stamp: Stamp): string =>
  createHmac("sha256", key)
    .update(previous + canonical(entry, stamp))
    .digest("hex")

/** What the first entry of a new segment is linked to, where the log's head did not verify: no entry before it has this link. */
export const breakLink = (key: KeyObject, { log, metadata }: Draft, { seq }: Stamp): string =>
  createHmac("sha256", key)
    .update(JSON.stringify(["coffer/audit-break/1", log, seq, metadata]))
    .digest("hex")

export interface Head {
  readonly log: string
  readonly seq: number
  readonly chain: string
  readonly created_at: string
}

/** Vouches for where a log ends, so that a cut tail is found. */
export const headMac = (key: KeyObject, head: Head): string =>
  createHmac("sha256", key)
    .update(JSON.stringify(["coffer/audit-head/1", head.log, head.seq, head.chain, head.created_at]))
    .digest("hex")

/** Compares two links in constant time. */
export const sameLink = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
