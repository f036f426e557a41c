import { auditActions, resourceTypes } from "@coffer/domain/audit/AuditEntry"
import type { EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { editDistance, nearestBy } from "@coffer/domain/base/Nearest"
import { ValidationError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { AuditIndex } from "../../audit/AuditIndex.js"
import type { Actors, Filters } from "../../audit/Search.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { actorsRepo } from "./ActorsRepo.js"

/** The filters of a log, as a caller writes them. */
export interface FilterRequest {
  readonly action?: string
  readonly actor_id?: string
  /** An id, an e-mail address or a service account's name. */
  readonly actor?: string
  readonly resource_type?: string
  readonly project?: ProjectName
  readonly env?: EnvName
  readonly key?: SecretKey
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

/** Makes the filters of a search from those of a request. */
export const makeFilters = Effect.gen(function* () {
  const logActors = yield* actorsRepo
  const index = yield* AuditIndex

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

  /** Fails with ValidationError, which suggests the nearest word, if the log knows no such action, resource type or actor. */
  return Effect.fnUntraced(function* (log: string | undefined, { actor, actor_id, ...rest }: FilterRequest) {
    yield* known("action", auditActions, rest.action)
    yield* known("resource_type", resourceTypes, rest.resource_type)
    // The whole log is read from the entries alone, and so also while the database takes no write.
    const isFiltered = [actor, actor_id, ...Object.values(rest)].some((filter) => filter !== undefined)
    if (isFiltered) yield* log === undefined ? index.catchUpAll : index.catchUp(log)
    const actors = yield* actorsOf(log, actor, actor_id)
    const filters: Filters = { ...(log !== undefined && { log }), ...rest, ...(actors !== undefined && { actors }) }
    return filters
  })
})
