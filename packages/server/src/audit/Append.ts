import type { KeyObject } from "node:crypto"
import type * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { timestamp } from "../base/Time.js"
import { uuidV7At } from "../base/Uuid.js"
import { breakLink, type Draft, genesis, headMac, link, sameLink } from "./Chain.js"
import { type EntryGroup, systemLog } from "./AuditEvent.js"
import type { LogList } from "./LogList.js"
import type { AuditRepo, LinkedEntry, LogEnd } from "./Repo.js"

/** The head and the last entry of a log that disagree, and the number of the entry that records this. */
export interface Break extends Pick<LogEnd, "head" | "last"> {
  readonly log: string
  readonly seq: number
}

/** Checks that the head is authentic and that the log's last entry is the one that the head names. */
const isWhole = (key: KeyObject, { head, last }: Pick<LogEnd, "head" | "last">): boolean =>
  head === null || last === null
    ? head === last
    : sameLink(head.mac, headMac(key, head)) && head.seq === last.seq && sameLink(head.chain, last.chain)

/** Whether a log may begin with an entry. That of an organization begins with its creation: an empty one was removed. */
const mayBegin = (log: string, { action }: Draft): boolean => log === systemLog || action === "org.create"

/** An entry of the log itself. */
const ownEntry = (log: string, action: "audit.break" | "audit.missing", metadata: object, millis: number): Draft => ({
  id: uuidV7At(millis),
  log,
  org_id: log === systemLog ? null : log,
  actor_type: "system",
  actor_id: null,
  actor_name: "audit log",
  action,
  resource_type: log === systemLog ? "server" : "org",
  resource_id: log === systemLog ? null : log,
  ip_address: null,
  metadata: JSON.stringify(metadata)
})

/** The entry that records a break. It holds the head as it was found, because the head row is overwritten. */
const breakEntry = (log: string, { head, last }: Pick<LogEnd, "head" | "last">, millis: number): Draft =>
  ownEntry(log, "audit.break", { head, last }, millis)

/** The entry that says how many entries could not be kept until the log could be written again. */
export const missingEntry = (log: string, entries: number, millis: number): EntryGroup => ({
  log,
  millis,
  characters: 0,
  drafts: [ownEntry(log, "audit.missing", { entries }, millis)]
})

/**
 * Makes a function that appends entries to one log: it numbers them, links each to its predecessor and moves the head. Call
 * the function in a transaction. It returns the break that it recorded, or null.
 *
 * The head is verified first. Otherwise an attacker could cut off the newest entries, write a head without a valid MAC, and
 * the next append would sign it. If the head does not verify, or a whole log is gone, an `audit.break` entry starts a new
 * segment of the chain. Its link never fits its predecessor, so `verify` always reports it. A log may also be empty because
 * its last append failed, which `failing` says. The first entry of a log adds the log to the list of logs.
 */
export const makeAppend = (repo: AuditRepo, list: LogList, key: KeyObject, failing: ReadonlySet<string> = new Set()) =>
  Effect.fnUntraced(function* (log: string, drafts: Array.NonEmptyReadonlyArray<Draft>, millis: number) {
    const end = yield* repo.lockedEnd(log)
    const isEmpty = end.head === null && end.last === null
    const isListed = !isEmpty || (yield* list.has(log))
    const isBroken = isEmpty ? isListed || (!mayBegin(log, drafts[0]) && !failing.has(log)) : !isWhole(key, end)
    // Servers may have different clocks. The head is locked, so a later entry gets a later time of the database.
    const current = timestamp(end.millis ?? millis)
    // Time must not go back in a log, but only an authentic head is trusted with its time.
    const created_at = isBroken || end.head === null || end.head.created_at < current ? current : end.head.created_at
    const before = Math.max(end.last?.seq ?? 0, 0)
    let seq = before
    let chain = end.last?.chain ?? genesis
    const linked = (entry: Draft): LinkedEntry => {
      const stamp = { seq: ++seq, created_at }
      if (entry.action === "audit.break") chain = breakLink(key, entry, stamp)
      chain = link(key, chain, entry, stamp)
      return { entry, stamp, chain }
    }
    const entries = (isBroken ? [breakEntry(log, end, millis), ...drafts] : drafts).map(linked)
    if (isBroken) yield* repo.setIndexed({ log, seq: before })
    yield* repo.insert(entries)
    const head = { log, seq, chain, created_at }
    yield* repo.setHead({ ...head, mac: headMac(key, head) })
    if (!isListed) yield* list.add(log, created_at)
    const found: Break | null = isBroken ? { head: end.head, last: end.last, log, seq: seq - drafts.length } : null
    return found
  })
