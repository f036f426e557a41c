import { cursorOf, numberOf } from "@coffer/domain/audit/AuditCursor"
import type { AuditPage } from "@coffer/domain/audit/AuditEntry"
import type { OrgId } from "@coffer/domain/base/Ids"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import type { ServerPlace, Operator } from "../../access/ServerPlace.js"
import { timestamp } from "../../base/Time.js"
import { forEachInSlices, pacing } from "../../base/EventLoop.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import type { Filters, Times } from "../../audit/Search.js"
import { auditEntry, countedAtMost, type EntryRow, EntryReader } from "../../audit/EntryReader.js"
import { type FilterRequest, makeFilters } from "./TrailFilters.js"
import { makeVerification, type VerifyRequest } from "./Verification.js"

const defaultLimit = 20
/** How many entries of a page one statement reads. */
const entriesAtOnce = 10
/** How many characters of metadata a page holds. A page of long entries has fewer entries than its limit. */
const pageCharacters = 4 * 1024 * 1024

export interface PageRequest extends FilterRequest {
  /** Inclusive. */
  readonly since?: string
  /** Exclusive. */
  readonly until?: string
  readonly limit?: number
  readonly after?: string
}

const momentOf = (text: string | undefined): string | null => (text === undefined ? null : timestamp(Date.parse(text)))

/** Whether a total is counted row by row, because no counter holds it. */
const isCounted = ({ since, until }: Times, { log, ...filters }: Filters): boolean =>
  (since !== null || until !== null) && (log === undefined || Object.keys(filters).length > 0)

/** Lists and verifies the audit trail. */
export class Trail extends Effect.Service<Trail>()("@coffer/server/Trail", {
  effect: Effect.gen(function* () {
    const repo = yield* EntryReader
    const filtersOf = yield* makeFilters
    const { checkList, verify, verifyServer, verifyWithIndex } = yield* makeVerification

    /** Reads the entries at some positions until the page is full. */
    const entriesAt = Effect.fnUntraced(function* (positions: ReadonlyArray<number>) {
      const pace = pacing()
      const found: Array<EntryRow> = []
      let characters = 0
      for (const some of Array.chunksOf(positions, entriesAtOnce)) {
        for (const entry of yield* repo.entriesAt(some)) {
          characters += entry.metadata.length
          if (found.length > 0 && characters > pageCharacters) return found
          found.push(entry)
        }
        yield* pace
      }
      return found
    })

    const page = Effect.fnUntraced(function* (
      log: string | undefined,
      { after, limit = defaultLimit, since, until, ...request }: PageRequest
    ) {
      const filters = yield* filtersOf(log, request)
      const times = { since: momentOf(since), until: momentOf(until) }
      const range = yield* repo.rangeOf(log, times, after === undefined ? null : numberOf(after))
      const positions = yield* repo.page(filters, range, limit + 1)
      const shown = yield* entriesAt(positions.slice(0, limit))
      const last = shown.at(-1)
      const has_next = positions.length > shown.length
      const total = yield* repo.total(filters, after === undefined ? range : yield* repo.rangeOf(log, times, null))
      const archived = yield* repo.archived(log)
      const answer: AuditPage = {
        data: yield* forEachInSlices(shown, auditEntry),
        pagination: {
          total: Math.min(total, isCounted(times, filters) ? countedAtMost : total),
          ...(isCounted(times, filters) && total > countedAtMost && { at_least: true }),
          ...(archived > 0 && { archived }),
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

    return {
      /** A page of an organization's log, newest first. */
      list: (place: Place<"audit.read">, request: PageRequest) => page(place.org.id, request),

      /** A page of all logs, or of one organization's, even a removed one. */
      listAll: (_everywhere: ServerPlace, orgId: OrgId | undefined, request: PageRequest) => page(orgId, request),

      /** Verifies an organization's log from a number on, and that it contains a head which the caller recorded earlier. */
      verify: (place: Place<"audit.verify">, request: VerifyRequest) => verifyWithIndex(place.org.id, request),

      /** For a program that checks a backup. It only reads, so entries that are not in the search index yet are not looked up there. */
      verifyLog: (_operator: Operator, log: string) => verify(log, {}),
      /** As `verifyLog`, for the list of all logs. */
      verifyList: (_operator: Operator) => checkList,

      /** Verifies any organization's log; the log of the server itself if `orgId` is undefined. */
      verifyAll: (_everywhere: ServerPlace, orgId: OrgId | undefined, request: VerifyRequest) =>
        orgId === undefined ? verifyServer(request) : verifyWithIndex(orgId, request)
    } as const
  }),
  dependencies: [EntryReader.Default, AuditIndex.Default]
}) {}
