import type { KeyObject } from "node:crypto"
import { type Array, Effect } from "effect"
import { timestamp } from "../database/Time.js"
import { uuidV7At } from "../database/Uuid.js"
import { breakLink, type Draft, genesis, type Head, headMac, link, sameLink } from "./Chain.js"
import type { AuditRepo, LinkedEntry } from "./Repo.js"

/** The log of the server itself: what belongs to no organization. */
export const systemLog = "system"

/** Where a log ends, by its head and by its entries. A log that nobody changed has both or neither, and they agree. */
export interface LogEnd {
  readonly head: (Head & { readonly mac: string }) | null
  readonly last: { readonly seq: number; readonly chain: string } | null
  /** The newest position of all logs. */
  readonly position: number
}

/** A log that does not end where its head says: the number of the entry that records this, and what was found. */
export interface Break extends Pick<LogEnd, "head" | "last"> {
  readonly log: string
  readonly seq: number
}

/** Checks that the head is authentic and that the log's last entry is the one that the head names. */
const isWhole = (key: KeyObject, { head, last }: Pick<LogEnd, "head" | "last">): boolean =>
  head === null || last === null
    ? head === last
    : sameLink(head.mac, headMac(key, head)) && head.seq === last.seq && sameLink(head.chain, last.chain)

/** The entry that records a break. It keeps the head as it was found, because the head row is overwritten. */
const breakEntry = (log: string, { head, last }: Pick<LogEnd, "head" | "last">, millis: number): Draft => ({
  id: uuidV7At(millis),
  log,
  org_id: log === systemLog ? null : log,
  actor_type: "system",
  actor_id: null,
  actor_name: "audit log",
  action: "audit.break",
  resource_type: log === systemLog ? "server" : "org",
  resource_id: log === systemLog ? null : log,
  ip_address: null,
  metadata: JSON.stringify({ head, last })
})

/**
 * Makes the function that appends entries to one log: they get the next numbers, each is linked to its predecessor, and the
 * head is moved. Run it as a transaction, or a part of one.
 *
 * The head is verified first. Without that, whoever cuts the newest entries off and writes a head row without a valid MAC
 * would have the next append sign it. If the head does not verify, the log goes on behind an `audit.break` entry, whose
 * link starts a new segment of the chain: it never fits its predecessor, so `verify` reports it for ever.
 *
 * @returns the break that was recorded, or null.
 */
export const appending = (repo: AuditRepo, key: KeyObject) =>
  Effect.fnUntraced(function* (log: string, drafts: Array.NonEmptyReadonlyArray<Draft>, millis: number) {
    const end = yield* repo.end(log)
    const isBroken = !isWhole(key, end)
    const current = timestamp(millis)
    // Only an authentic head may hold the clock back.
    const created_at = isBroken || end.head === null || end.head.created_at < current ? current : end.head.created_at
    let seq = Math.max(end.last?.seq ?? 0, 0)
    let chain = end.last?.chain ?? genesis
    let { position } = end
    const linked = (entry: Draft): LinkedEntry => {
      const stamp = { seq: ++seq, created_at }
      if (entry.action === "audit.break") chain = breakLink(key, entry, stamp)
      chain = link(key, chain, entry, stamp)
      return { position: ++position, entry, stamp, chain }
    }
    const entries = (isBroken ? [breakEntry(log, end, millis), ...drafts] : drafts).map(linked)
    yield* repo.insert(entries)
    yield* repo.post(entries)
    yield* repo.count(entries.map(({ entry }) => entry))
    const head = { log, seq, chain, created_at }
    yield* repo.setHead({ ...head, mac: headMac(key, head) })
    const found: Break | null = isBroken ? { ...end, log, seq: seq - drafts.length } : null
    return found
  })
