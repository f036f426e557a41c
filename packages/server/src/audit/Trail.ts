import { cursorOf, numberOf } from "@coffer/domain/AuditCursor"
import type { AuditEntry, AuditPage, AuditVerification } from "@coffer/domain/AuditEntry"
import { auditActions, resourceTypes } from "@coffer/domain/AuditEntry"
import { ValidationError } from "@coffer/domain/Errors"
import type { OrgId } from "@coffer/domain/Ids"
import type { EnvName, ProjectName, SecretKey } from "@coffer/domain/Names"
import { editDistance, nearestBy } from "@coffer/domain/Nearest"
import { Array, Effect, Schema } from "effect"
import type { Everywhere, Operator, Place } from "../access/Access.js"
import { Instance } from "../keys/Instance.js"
import { timestamp } from "../database/Time.js"
import { forEachInSlices, pacing } from "../EventLoop.js"
import { systemLog } from "./Append.js"
import { genesis, headMac, link, sameLink } from "./Chain.js"
import { ActorsRepo } from "./ActorsRepo.js"
import type { Actors, Filters, Times } from "./Search.js"
import { countedAtMost, type EntryRow, type FoundRow, TrailRepo } from "./TrailRepo.js"

const defaultLimit = 20
/** How many entries one statement reads: an entry can hold 2,000 keys in 250 KB, and a statement must not hold the event loop. */
const stride = 25
/** How many entries of a page one statement reads. */
const entriesAtOnce = 10
/** How many characters of metadata a page holds; it is shorter than its limit where its entries are long. */
const pageCharacters = 4 * 1024 * 1024
/** How many logs are verified at the same time. */
const maxTogether = 16

const Metadata = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const decodeMetadata = Schema.decodeUnknown(Metadata)

export interface PageRequest {
  readonly action?: string
  readonly actor_id?: string
  /** An id, an e-mail address or a service account's name. */
  readonly actor?: string
  readonly resource_type?: string
  readonly project?: ProjectName
  readonly env?: EnvName
  readonly key?: SecretKey
  /** From this moment on. */
  readonly since?: string
  /** Before this moment. */
  readonly until?: string
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

/** Fails unless a word is one that entries can have; names the nearest one. */
const known = (name: string, words: ReadonlyArray<string>, word: string | undefined) =>
  word === undefined || words.includes(word)
    ? Effect.void
    : Effect.flatMap(
        hint(word, words),
        (hint) => new ValidationError({ message: `${name}: there is no ${name.replace("_", " ")} ${word}${hint}` })
      )

/** Longer names differ within this many characters, or are not worth the time. */
const maxCompared = 100

/** The distance of two words; infinite where half of the letters differ. */
const distanceOf = (word: string, other: string): number => {
  if (Math.abs(other.length - word.length) > word.length / 2) return Infinity
  const distance = editDistance(word.slice(0, maxCompared), other.slice(0, maxCompared))
  return distance < other.length / 2 ? distance : Infinity
}

/** Asks whether the nearest of some words was meant, in slices: there may be thousands. */
const hint = (word: string, words: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(
    forEachInSlices(words, (other) => Effect.sync(() => [other, distanceOf(word, other)] as const)),
    (distances) => {
      const known = new Map(distances)
      const near = nearestBy(words, (other) => known.get(other) ?? Infinity)
      return near === undefined ? "" : `: did you mean ${near}?`
    }
  )

/** A moment of a filter as the database holds it. */
const momentOf = (text: string | undefined): string | null => (text === undefined ? null : timestamp(Date.parse(text)))

/** Whether a total is counted, because no counter keeps it. */
const isCounted = ({ since, until }: Times, { log, ...filters }: Filters): boolean =>
  (since !== null || until !== null) && (log === undefined || Object.keys(filters).length > 0)

/** Reads the audit trail and checks that it is whole. */
export class Trail extends Effect.Service<Trail>()("@coffer/server/Trail", {
  effect: Effect.gen(function* () {
    const repo = yield* TrailRepo
    const people = yield* ActorsRepo
    const { auditKey } = yield* Instance
    const together = yield* Effect.makeSemaphore(maxTogether)
    const oneOfALog = new Map<string, { readonly lock: Effect.Semaphore; waiting: number }>()
    /**
     * One verification of a log at a time. Those of other logs go on beside it, slice by slice, so that a short log does not
     * wait for the end of a long one.
     */
    const inTurn = <A, E, R>(log: string, verification: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const mine = oneOfALog.get(log) ?? { lock: Effect.unsafeMakeSemaphore(1), waiting: 0 }
        oneOfALog.set(log, mine)
        mine.waiting++
        return Effect.ensuring(
          mine.lock.withPermits(1)(together.withPermits(1)(verification)),
          Effect.sync(() => {
            if (--mine.waiting === 0) oneOfALog.delete(log)
          })
        )
      })

    /**
     * The actors that a request names: of the log, or who could be in it and did nothing yet. Fails if there is nobody of that
     * id or name; names the nearest one.
     */
    const actorsOf = Effect.fnUntraced(function* (
      log: string | undefined,
      actor: string | undefined,
      id: string | undefined
    ) {
      if (actor === undefined) return id === undefined ? undefined : ({ ids: [id], nameless: null } satisfies Actors)
      const name = actor.includes("@") ? actor.trim().toLowerCase() : actor
      const inLog = yield* people.inLog(log, name)
      const found = inLog.length > 0 ? inLog : yield* people.silent(log, name)
      if (found.length === 0) {
        const meant = yield* hint(name, yield* people.names(log))
        return yield* new ValidationError({
          message: `actor: there is nobody of that id or name${meant}`
        })
      }
      const ids = found.map(({ actor_id }) => actor_id).filter((found) => found !== "" && (id ?? found) === found)
      const nameless = id === undefined && found.some(({ actor_id }) => actor_id === "") ? name : null
      const actors: Actors = { ids: [...new Set(ids)], nameless }
      return actors
    })

    /** The entries at some positions, as many of the first ones as a page holds. */
    const entriesAt = Effect.fnUntraced(function* (positions: ReadonlyArray<number>) {
      const pace = pacing()
      const found: Array<EntryRow> = []
      let characters = 0
      for (const some of Array.chunksOf(positions, entriesAtOnce)) {
        for (const entry of yield* repo.at(some)) {
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
        data: yield* forEachInSlices(shown, recordOf),
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

    /** The link that an entry is chained to. */
    const before = (log: string, seq: number) =>
      seq === 1 ? Effect.succeed(genesis) : Effect.map(repo.link({ log, seq: seq - 1 }), (row) => row?.chain ?? "")

    /** Walks a log up to a number. Answers how far it is whole, and the first number that is not. */
    const walk = Effect.fnUntraced(function* (log: string, from: number, to: number) {
      let chain = yield* before(log, from)
      let seq = from
      let above = 0
      const checked = new Set<string>()
      const fits = Effect.fnUntraced(function* (row: FoundRow) {
        const { chain: found, position, ...entry } = row
        const expected = link(auditKey, chain, entry, entry)
        if (entry.seq !== seq || position <= above || !sameLink(found, expected)) return false
        if (!(yield* repo.isFound(row, checked))) return false
        chain = expected
        above = position
        seq++
        return true
      })
      const pace = pacing()
      while (seq <= to) {
        const rows = yield* repo.run({ log, from: seq, to, limit: stride })
        for (const row of rows) {
          yield* pace
          if (!(yield* fits(row))) return { chain, entries: seq - from, invalid: seq }
        }
        if (rows.length < stride && seq <= to) return { chain, entries: seq - from, invalid: seq }
      }
      return { chain, entries: seq - from, invalid: null }
    })

    const verify = (log: string, { chain, from_seq = 1, seq }: VerifyRequest) =>
      inTurn(
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
            const kept = yield* repo.link({ log, seq })
            if (kept === undefined || !sameLink(kept.chain, chain)) faults.push(seq)
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

      /** Whether a log is whole, for a program that checks a backup. */
      verifyLog: (_operator: Operator, log: string) => verify(log, {}),

      /** The same for the log of what belongs to no organization, or any organization's. */
      verifyAll: (_everywhere: Everywhere, orgId: OrgId | undefined, request: VerifyRequest) =>
        verify(orgId ?? systemLog, request)
    } as const
  }),
  dependencies: [TrailRepo.Default, ActorsRepo.Default]
}) {}
