import { createHmac, type KeyObject } from "node:crypto"
import { sameMac } from "../keys/LoginCode.js"

/** An entry before it is appended. */
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

/** The number in its log and the time that an entry gets when it is appended. */
export interface Stamp {
  readonly seq: number
  readonly created_at: string
}

/** The link before the first entry. */
export const genesis = "0".repeat(64)

/** The chain authenticates every field of an entry. */
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

/** The link of an entry: HMAC-SHA256 (RFC 2104) over the previous link and the entry, in lowercase hexadecimal. */
export const link = (key: KeyObject, previous: string, entry: Draft, stamp: Stamp): string =>
  createHmac("sha256", key)
    .update(previous + canonical(entry, stamp))
    .digest("hex")

/** The previous link of the first entry of a new segment, after a head that did not verify. No entry has this link. */
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

/** Authenticates the end of a log, so that a truncation is detected. */
export const headMac = (key: KeyObject, head: Head): string =>
  createHmac("sha256", key)
    .update(JSON.stringify(["coffer/audit-head/1", head.log, head.seq, head.chain, head.created_at]))
    .digest("hex")

/** The last entry that left a log for an archive: the log begins behind it. */
export type Start = Pick<Head, "log" | "seq" | "chain">

/** Authenticates the start of a log, so that nothing but an archive takes its first entries away. */
export const startMac = (key: KeyObject, { chain, log, seq }: Start): string =>
  createHmac("sha256", key)
    .update(JSON.stringify(["coffer/audit-start/1", log, seq, chain]))
    .digest("hex")

/** A log in the list of all logs. */
export interface ListedLog {
  readonly number: number
  readonly log: string
  readonly created_at: string
}

/** The link of a log in the list: as that of an entry. */
export const listLink = (key: KeyObject, previous: string, { created_at, log, number }: ListedLog): string =>
  createHmac("sha256", key)
    .update(previous + JSON.stringify(["coffer/audit-log/1", number, log, created_at]))
    .digest("hex")

/** Compares two links in constant time. */
export const sameLink = (a: string, b: string): boolean => sameMac(Buffer.from(a), Buffer.from(b))
