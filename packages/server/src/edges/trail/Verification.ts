import type { AuditVerification } from "@coffer/domain/audit/AuditEntry"
import { ValidationError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { systemLog } from "../../audit/AuditEvent.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { genesis, headMac, link, sameLink, type Start, startMac } from "../../audit/Chain.js"
import { EntryReader, type FoundRow } from "../../audit/EntryReader.js"
import { makeListCheck } from "../../audit/ListCheck.js"
import { pacing } from "../../base/EventLoop.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { Instance } from "../../keys/Instance.js"

/** How many entries one statement of a verification reads: an entry can hold 250 KB, and a statement blocks the event loop. */
const rowsAtOnce = 25

export interface VerifyRequest {
  readonly from_seq?: number
  readonly seq?: number
  readonly chain?: string
}

/** Verifies the chains of logs, and the list of all logs. */
export const makeVerification = Effect.gen(function* () {
  const repo = yield* EntryReader
  const index = yield* AuditIndex
  const { auditKey } = yield* Instance
  const checkList = yield* makeListCheck(auditKey)
  const verifications = makeFairSemaphore(sharedBounds.verifications)
  const locks = new Map<string, { readonly lock: Effect.Semaphore; users: number }>()

  /** Runs one verification of a log at a time. Other logs are verified concurrently, so a short log need not wait for a long one. */
  const withLogLock = <A, E, R>(log: string, verification: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const ofLog = locks.get(log) ?? { lock: Effect.unsafeMakeSemaphore(1), users: 0 }
      locks.set(log, ofLog)
      ofLog.users++
      return Effect.ensuring(
        ofLog.lock.withPermits(1)(verifications.inside(verification)),
        Effect.sync(() => {
          if (--ofLog.users === 0) locks.delete(log)
        })
      )
    })

  /** The link of the entry before a number. */
  const previousLink = ({ chain, log, seq: last }: Start, seq: number) =>
    seq === last + 1 ? Effect.succeed(chain) : Effect.map(repo.link({ log, seq: seq - 1 }), (row) => row?.chain ?? "")

  /** Verifies the chain of a log from a number to a number. Returns how many entries are valid, and the first invalid number. */
  const walk = Effect.fnUntraced(function* (start: Start, from: number, to: number) {
    const { log } = start
    const indexed = yield* index.reached(log)
    let chain = yield* previousLink(start, from)
    let seq = from
    let lastPosition = 0
    const checked = new Map<string, number>()
    const isValid = Effect.fnUntraced(function* (row: FoundRow) {
      const { chain: found, position, ...entry } = row
      const expected = link(auditKey, chain, entry, entry)
      if (entry.seq !== seq || position <= lastPosition || !sameLink(found, expected)) return false
      if (entry.seq <= indexed && !(yield* repo.isIndexed(row, checked))) return false
      chain = expected
      lastPosition = position
      seq++
      return true
    })
    const pace = pacing()
    while (seq <= to) {
      const rows = yield* repo.run({ log, from: seq, to, limit: rowsAtOnce })
      for (const row of rows) {
        yield* pace
        if (!(yield* isValid(row))) return { chain, entries: seq - from, invalid: seq }
      }
      if (rows.length < rowsAtOnce && seq <= to) return { chain, entries: seq - from, invalid: seq }
    }
    return { chain, entries: seq - from, invalid: null }
  })

  const verify = (log: string, { chain, from_seq = 1, seq }: VerifyRequest) =>
    withLogLock(
      log,
      Effect.gen(function* () {
        const { head_chain, head_created_at, head_mac, head_seq, start_chain, start_mac, start_seq, ...ends } =
          yield* repo.end({ log })
        const left = start_seq === null || start_chain === null ? null : { log, seq: start_seq, chain: start_chain }
        const isStartValid = left === null || sameLink(start_mac ?? "", startMac(auditKey, left))
        // Entries that left have no link here. A start that is not authentic takes none away.
        const start = left === null || !isStartValid ? { log, seq: 0, chain: genesis } : left
        const isFromStart = from_seq <= start.seq + 1
        const from = isFromStart ? start.seq + 1 : from_seq
        const first_seq = ends.first_seq ?? start.seq + 1
        const last = ends.last_seq ?? 0
        const hasHead = head_seq !== null && head_chain !== null && head_created_at !== null && head_mac !== null
        const found = hasHead ? { log, seq: head_seq, chain: head_chain, created_at: head_created_at } : null
        const head = found !== null && sameLink(head_mac ?? "", headMac(auditKey, found)) ? found : null
        const to = Math.max(last, head?.seq ?? 0)
        const walked = yield* walk(start, from, to)
        const faults: Array<number> = []
        if (walked.invalid !== null) faults.push(walked.invalid)
        if (isFromStart && first_seq <= start.seq) faults.push(Math.max(0, first_seq))
        if (!isStartValid) faults.push(1)
        // A log that began is never empty, so it was removed with its head.
        const isRemoved = last === 0 && !hasHead && (yield* repo.begun({ log })) !== undefined
        if (found === null && (last > 0 || isRemoved)) faults.push(1)
        // Without a valid head, it is unknown where the log should end.
        if (found !== null && head === null) faults.push(Math.max(last, 1))
        if (head !== null) {
          if (last > head.seq) faults.push(head.seq + 1)
          if (walked.invalid === null && last === head.seq && from <= to && walked.chain !== head.chain) {
            faults.push(head.seq)
          }
        }
        if (seq !== undefined && chain !== undefined) {
          if (seq < start.seq) {
            return yield* new ValidationError({
              message: `seq: the entries up to ${start.seq} left for archives, of which this head is one: ask the operator to run coffer-server audit verify`
            })
          }
          const row = seq === start.seq ? start : yield* repo.link({ log, seq })
          if (row === undefined || !sameLink(row.chain, chain)) faults.push(seq)
        }
        const first = faults.length === 0 ? null : Math.min(...faults)
        const verification: AuditVerification = {
          valid: first === null,
          entries: walked.entries,
          head: head === null ? null : { seq: head.seq, chain: head.chain },
          first_invalid_seq: first,
          ...(start.seq > 0 && { archived: start.seq })
        }
        return verification
      })
    )

  /** Verifies a log with its search index, to which entries are added first. */
  const verifyWithIndex = (log: string, request: VerifyRequest) =>
    Effect.zipRight(index.catchUp(log), verify(log, request))

  /** Verifies the log of the server itself, the list of all logs, and that each of them exists. */
  const verifyServer = (request: VerifyRequest) =>
    Effect.zipWith(
      verifyWithIndex(systemLog, request),
      checkList,
      (verification, { firstInvalid, missing }): AuditVerification => ({
        ...verification,
        valid: verification.valid && firstInvalid === null && missing.length === 0,
        ...(missing.length > 0 && { missing }),
        ...(firstInvalid !== null && { first_invalid_log: firstInvalid })
      })
    )

  return { checkList, verify, verifyServer, verifyWithIndex } as const
})
