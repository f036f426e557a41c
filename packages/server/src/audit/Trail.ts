import { cursorOf, numberOf } from "@coffer/domain/AuditCursor"
import type { AuditEntry, AuditPage, AuditVerification } from "@coffer/domain/AuditEntry"
import type { OrgId } from "@coffer/domain/Names"
import { Effect, Schema } from "effect"
import type { Everywhere, Place } from "../access/Access.js"
import { Instance } from "../keys/Instance.js"
import { turn } from "../Turn.js"
import { systemLog } from "./Append.js"
import { genesis, headMac, link, sameLink } from "./Chain.js"
import { type EntryRow, type Filters, TrailRepo } from "./TrailRepo.js"

const defaultLimit = 20
const stride = 500

const Metadata = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const decodeMetadata = Schema.decodeUnknown(Metadata)

export interface PageRequest extends Omit<Filters, "log"> {
  readonly limit?: number
  readonly after?: string
}

export interface VerifyRequest {
  readonly from_seq?: number
  readonly seq?: number
  readonly chain?: string
}

/** An entry as the API shows it. */
export const recordOf = ({ chain: _chain, log: _log, metadata, position: _position, ...entry }: EntryRow) =>
  Effect.map(Effect.orDie(decodeMetadata(metadata)), (decoded): AuditEntry => ({ ...entry, metadata: decoded }))

/** Reads the audit trail and checks that it is whole. */
export class Trail extends Effect.Service<Trail>()("@coffer/server/Trail", {
  effect: Effect.gen(function* () {
    const repo = yield* TrailRepo
    const { auditKey } = yield* Instance
    const oneAtATime = yield* Effect.makeSemaphore(1)

    const page = Effect.fnUntraced(function* (
      log: string | undefined,
      { after, limit = defaultLimit, ...rest }: PageRequest
    ) {
      const filters: Filters = { ...(log !== undefined && { log }), ...rest }
      const below = after === undefined ? null : numberOf(after)
      const rows = yield* repo.page(filters, below, limit + 1)
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      const has_next = rows.length > limit
      const answer: AuditPage = {
        data: yield* Effect.forEach(shown, recordOf),
        pagination: {
          total: yield* repo.total(filters),
          limit,
          has_next,
          next_cursor:
            has_next && last !== undefined
              ? log === undefined
                ? cursorOf("all", last.position)
                : cursorOf("one", last.seq)
              : null
        }
      }
      return answer
    })

    /** The link that an entry is chained to. */
    const before = (log: string, seq: number) =>
      seq === 1 ? Effect.succeed(genesis) : Effect.map(repo.chainAt(log, seq - 1), (chain) => chain ?? "")

    /** Walks a log up to a number. Answers how far it is whole, and the first number that is not. */
    const walk = Effect.fnUntraced(function* (log: string, from: number, to: number) {
      let chain = yield* before(log, from)
      let seq = from
      let above = 0
      while (seq <= to) {
        const rows = yield* repo.run(log, seq, to, stride)
        for (const { chain: found, position, ...entry } of rows) {
          const expected = link(auditKey, chain, entry, entry)
          if (entry.seq !== seq || position <= above || !sameLink(found, expected)) {
            return { chain, entries: seq - from, invalid: seq }
          }
          chain = expected
          above = position
          seq++
        }
        if (rows.length < stride && seq <= to) return { chain, entries: seq - from, invalid: seq }
        yield* turn
      }
      return { chain, entries: seq - from, invalid: null }
    })

    const verify = (log: string, { chain, from_seq = 1, seq }: VerifyRequest) =>
      oneAtATime.withPermits(1)(
        Effect.gen(function* () {
          const end = yield* repo.end(log)
          const first_seq = end?.first_seq ?? 1
          const last = end?.last_seq ?? 0
          const { head_chain = null, head_created_at = null, head_mac = null, head_seq = null } = end ?? {}
          const hasHead = head_seq !== null && head_chain !== null && head_created_at !== null && head_mac !== null
          const found = hasHead ? { log, seq: head_seq, chain: head_chain, created_at: head_created_at } : null
          const head = found !== null && sameLink(head_mac ?? "", headMac(auditKey, found)) ? found : null
          const to = Math.max(last, head?.seq ?? 0)
          const walked = yield* walk(log, from_seq, to)
          const faults: Array<number> = []
          if (walked.invalid !== null) faults.push(walked.invalid)
          if (from_seq === 1 && first_seq < 1) faults.push(0)
          if (found === null && last > 0) faults.push(1)
          // A head that nobody vouches for says nothing about where the log ends.
          if (found !== null && head === null) faults.push(Math.max(last, 1))
          if (head !== null) {
            if (last > head.seq) faults.push(head.seq + 1)
            if (walked.invalid === null && last === head.seq && from_seq <= to && walked.chain !== head.chain) {
              faults.push(head.seq)
            }
          }
          if (seq !== undefined && chain !== undefined) {
            const kept = yield* repo.chainAt(log, seq)
            if (kept === undefined || !sameLink(kept, chain)) faults.push(seq)
          }
          const first = faults.length === 0 ? null : Math.min(...faults)
          const verification: AuditVerification = {
            valid: first === null,
            entries: walked.entries,
            head: head === null ? null : { seq: head.seq, chain: head.chain },
            first_invalid_seq: first
          }
          return verification
        })
      )

    return {
      /** A page of an organization's log, newest first. */
      list: (place: Place<"audit.read">, request: PageRequest) => page(place.org.id, request),

      /** A page of every log, or of one organization's, removed ones too. */
      listAll: (_everywhere: Everywhere, orgId: OrgId | undefined, request: PageRequest) => page(orgId, request),

      /** Whether an organization's log is whole, from a number on; and whether a head that someone kept is in it. */
      verify: (place: Place<"audit.verify">, request: VerifyRequest) => verify(place.org.id, request),

      /** Whether a log is whole. For a backup that is checked, where there is no caller. */
      verifyLog: (log: string) => verify(log, {}),

      /** The same for the log of what belongs to no organization, or any organization's. */
      verifyAll: (_everywhere: Everywhere, orgId: OrgId | undefined, request: VerifyRequest) =>
        verify(orgId ?? systemLog, request)
    } as const
  }),
  dependencies: [TrailRepo.Default]
}) {}
