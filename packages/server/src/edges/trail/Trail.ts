import { cursorOf, numberOf } from "@coffer/domain/audit/AuditCursor"
import type { AuditPage } from "@coffer/domain/audit/AuditEntry"
import { auditActions, resourceTypes } from "@coffer/domain/audit/AuditEntry"
import { ValidationError } from "@coffer/domain/errors/Errors"
import type { OrgId } from "@coffer/domain/base/Ids"
import type { EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { editDistance, nearestBy } from "@coffer/domain/base/Nearest"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import type { ServerPlace, Operator } from "../../access/ServerPlace.js"
import { timestamp } from "../../base/Time.js"
import { forEachInSlices, pacing } from "../../base/EventLoop.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { actorsRepo } from "./ActorsRepo.js"
import type { Actors, Filters, Times } from "../../audit/Search.js"
import { auditEntry, countedAtMost, type EntryRow, EntryReader } from "../../audit/EntryReader.js"
import { makeVerification, type VerifyRequest } from "./Verification.js"

const defaultLimit = 20
/** How many entries of a page one statement reads. */
const entriesAtOnce = 10
/** How many characters of metadata a page holds. A page of long entries has fewer entries than its limit. */
const pageCharacters = 4 * 1024 * 1024

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
    const { checkList, verify, verifyServer, verifyWithIndex } = yield* makeVerification

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
