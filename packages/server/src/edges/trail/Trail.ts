import { cursorOf, numberOf } from "@coffer/domain/AuditCursor"
import type { AuditPage, AuditVerification } from "@coffer/domain/AuditEntry"
import { auditActions, resourceTypes } from "@coffer/domain/AuditEntry"
import { ValidationError } from "@coffer/domain/Errors"
import type { OrgId } from "@coffer/domain/Ids"
import type { EnvName, ProjectName, SecretKey } from "@coffer/domain/Names"
import { editDistance, nearestBy } from "@coffer/domain/Nearest"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import type { Everywhere, Operator } from "../../access/Everywhere.js"
import { Instance } from "../../keys/Instance.js"
import { timestamp } from "../../base/Time.js"
import { forEachInSlices, pacing } from "../../base/EventLoop.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { systemLog } from "../../audit/AuditEvent.js"
import { genesis, headMac, link, sameLink } from "../../audit/Chain.js"
import { actorsRepo } from "./ActorsRepo.js"
import { makeListCheck } from "../../audit/ListCheck.js"
import type { Actors, Filters, Times } from "../../audit/Search.js"
import { auditEntry, countedAtMost, type EntryRow, type FoundRow, EntryReader } from "../../audit/EntryReader.js"

const defaultLimit = 20
/** How many entries one statement of a verification reads: an entry can hold 250 KB, and a statement blocks the event loop. */
const rowsAtOnce = 25
/** How many entries of a page one statement reads. */
const entriesAtOnce = 10
/** How many characters of metadata a page holds. A page of long entries has fewer entries than its limit. */
const pageCharacters = 4 * 1024 * 1024
/** How many logs are verified at the same time. */
const maxVerifications = 16

export interface PageRequest {
  readonly action?: string
  readonly actor_id?: string
  /** An id, an e-mail address or a service account's name. */
  readonly actor?: string
  readonly resource_type?: string
  readonly project?: ProjectName
  readonly env?: EnvName
  readonly key?: SecretKey
  /** Inclusive. */
  readonly since?: string
  /** Exclusive. */
  readonly until?: string
  readonly limit?: number
  readonly after?: string
}

export interface VerifyRequest {
  readonly from_seq?: number
  readonly seq?: number
  readonly chain?: string
}

/** Fails with ValidationError, which suggests the nearest word, if `word` is not one of `words`. */
const known = (name: string, words: ReadonlyArray<string>, word: string | undefined) =>
  word === undefined || words.includes(word)
    ? Effect.void
    : Effect.flatMap(
        hint(word, words),
        (hint) => new ValidationError({ message: `${name}: there is no ${name.replace("_", " ")} ${word}${hint}` })
      )

/** How many characters of a name are compared, because the distance is quadratic. */
const maxCompared = 100

/** The edit distance of two words; infinite if half of the letters differ. */
const distanceOf = (word: string, other: string): number => {
  if (Math.abs(other.length - word.length) > word.length / 2) return Infinity
  const distance = editDistance(word.slice(0, maxCompared), other.slice(0, maxCompared))
  return distance < other.length / 2 ? distance : Infinity
}

/** Suggests the nearest word. Yields to the event loop: there may be thousands of words. */
const hint = (word: string, words: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(
    forEachInSlices(words, (other) => Effect.sync(() => [other, distanceOf(word, other)] as const)),
    (distances) => {
      const known = new Map(distances)
      const near = nearestBy(words, (other) => known.get(other) ?? Infinity)
      return near === undefined ? "" : `: did you mean ${near}?`
    }
  )

const momentOf = (text: string | undefined): string | null => (text === undefined ? null : timestamp(Date.parse(text)))

/** Whether a total is counted row by row, because no counter holds it. */
const isCounted = ({ since, until }: Times, { log, ...filters }: Filters): boolean =>
  (since !== null || until !== null) && (log === undefined || Object.keys(filters).length > 0)

/** Lists and verifies the audit trail. */
export class Trail extends Effect.Service<Trail>()("@coffer/server/Trail", {
  effect: Effect.gen(function* () {
    const repo = yield* EntryReader
    const logActors = yield* actorsRepo
    const index = yield* AuditIndex
    const { auditKey } = yield* Instance
    const checkList = yield* makeListCheck(auditKey)
    const verifications = yield* Effect.makeSemaphore(maxVerifications)
    const locks = new Map<string, { readonly lock: Effect.Semaphore; users: number }>()
    /** Runs one verification of a log at a time. Other logs are verified concurrently, so a short log need not wait for a long one. */
    const withLogLock = <A, E, R>(log: string, verification: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const ofLog = locks.get(log) ?? { lock: Effect.unsafeMakeSemaphore(1), users: 0 }
        locks.set(log, ofLog)
        ofLog.users++
        return Effect.ensuring(
          ofLog.lock.withPermits(1)(verifications.withPermits(1)(verification)),
          Effect.sync(() => {
            if (--ofLog.users === 0) locks.delete(log)
          })
        )
      })

    /** Resolves the actors of a request, even without entries. Fails with ValidationError, which suggests the nearest name. */
    const actorsOf = Effect.fnUntraced(function* (
      log: string | undefined,
      actor: string | undefined,
      id: string | undefined
    ) {
      if (actor === undefined) return id === undefined ? undefined : ({ ids: [id], nameless: null } satisfies Actors)
      const name = actor.includes("@") ? actor.trim().toLowerCase() : actor
      const inLog = yield* logActors.inLog(log, name)
      const found = inLog.length > 0 ? inLog : yield* logActors.withoutEntries(log, name)
      if (found.length === 0) {
        const meant = yield* hint(name, yield* logActors.names(log))
        return yield* new ValidationError({
          message: `actor: no actor has this id or name${meant}`
        })
      }
      const ids = found.map(({ actor_id }) => actor_id).filter((found) => found !== "" && (id ?? found) === found)
      const nameless = id === undefined && found.some(({ actor_id }) => actor_id === "") ? name : null
      const actors: Actors = { ids: [...new Set(ids)], nameless }
      return actors
    })

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
      { actor, actor_id, after, limit = defaultLimit, since, until, ...rest }: PageRequest
    ) {
      yield* known("action", auditActions, rest.action)
      yield* known("resource_type", resourceTypes, rest.resource_type)
      // The whole log is read from the entries alone, and so also while the database takes no write.
      const isFiltered = [actor, actor_id, ...Object.values(rest)].some((filter) => filter !== undefined)
      if (isFiltered) yield* log === undefined ? index.catchUpAll : index.catchUp(log)
      const actors = yield* actorsOf(log, actor, actor_id)
      const filters: Filters = { ...(log !== undefined && { log }), ...rest, ...(actors !== undefined && { actors }) }
      const times = { since: momentOf(since), until: momentOf(until) }
      const range = yield* repo.rangeOf(log, times, after === undefined ? null : numberOf(after))
      const positions = yield* repo.page(filters, range, limit + 1)
      const shown = yield* entriesAt(positions.slice(0, limit))
      const last = shown.at(-1)
      const has_next = positions.length > shown.length
      const total = yield* repo.total(filters, after === undefined ? range : yield* repo.rangeOf(log, times, null))
      const answer: AuditPage = {
        data: yield* forEachInSlices(shown, auditEntry),
        pagination: {
          total: Math.min(total, isCounted(times, filters) ? countedAtMost : total),
          ...(isCounted(times, filters) && total > countedAtMost && { at_least: true }),
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

    /** The link of the entry before a number. */
    const previousLink = (log: string, seq: number) =>
      seq === 1 ? Effect.succeed(genesis) : Effect.map(repo.link({ log, seq: seq - 1 }), (row) => row?.chain ?? "")

    /** Verifies the chain of a log from a number to a number. Returns how many entries are valid, and the first invalid number. */
    const walk = Effect.fnUntraced(function* (log: string, from: number, to: number) {
      const indexed = yield* index.reached(log)
      let chain = yield* previousLink(log, from)
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
          const { head_chain, head_created_at, head_mac, head_seq, ...ends } = yield* repo.end({ log })
          const first_seq = ends.first_seq ?? 1
          const last = ends.last_seq ?? 0
          const hasHead = head_seq !== null && head_chain !== null && head_created_at !== null && head_mac !== null
          const found = hasHead ? { log, seq: head_seq, chain: head_chain, created_at: head_created_at } : null
          const head = found !== null && sameLink(head_mac ?? "", headMac(auditKey, found)) ? found : null
          const to = Math.max(last, head?.seq ?? 0)
          const walked = yield* walk(log, from_seq, to)
          const faults: Array<number> = []
          if (walked.invalid !== null) faults.push(walked.invalid)
          if (from_seq === 1 && first_seq < 1) faults.push(0)
          // A log that began is never empty, so it was removed with its head.
          const isRemoved = last === 0 && !hasHead && (yield* repo.begun({ log })) !== undefined
          if (found === null && (last > 0 || isRemoved)) faults.push(1)
          // Without a valid head, it is unknown where the log should end.
          if (found !== null && head === null) faults.push(Math.max(last, 1))
          if (head !== null) {
            if (last > head.seq) faults.push(head.seq + 1)
            if (walked.invalid === null && last === head.seq && from_seq <= to && walked.chain !== head.chain) {
              faults.push(head.seq)
            }
          }
          if (seq !== undefined && chain !== undefined) {
            const row = yield* repo.link({ log, seq })
            if (row === undefined || !sameLink(row.chain, chain)) faults.push(seq)
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

    return {
      /** A page of an organization's log, newest first. */
      list: (place: Place<"audit.read">, request: PageRequest) => page(place.org.id, request),

      /** A page of all logs, or of one organization's, even a removed one. */
      listAll: (_everywhere: Everywhere, orgId: OrgId | undefined, request: PageRequest) => page(orgId, request),

      /** Verifies an organization's log from a number on, and that it contains a head which the caller recorded earlier. */
      verify: (place: Place<"audit.verify">, request: VerifyRequest) => verifyWithIndex(place.org.id, request),

      /** For a program that checks a backup. It only reads, so entries that are not in the search index yet are not looked up there. */
      verifyLog: (_operator: Operator, log: string) => verify(log, {}),
      /** As `verifyLog`, for the list of all logs. */
      verifyList: (_operator: Operator) => checkList,

      /** Verifies any organization's log; the log of the server itself if `orgId` is undefined. */
      verifyAll: (_everywhere: Everywhere, orgId: OrgId | undefined, request: VerifyRequest) =>
        orgId === undefined ? verifyServer(request) : verifyWithIndex(orgId, request)
    } as const
  }),
  dependencies: [EntryReader.Default, AuditIndex.Default]
}) {}
