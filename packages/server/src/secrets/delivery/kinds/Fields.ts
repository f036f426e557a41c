import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { PlatformFailed } from "../PlatformFailed.js"
import type { Answered } from "../PlatformCalls.js"

/** A field of JSON that a platform sent; undefined if there is none. */
export const field = (json: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce<unknown>((inner, name) => (Predicate.hasProperty(inner, name) ? inner[name] : undefined), json)

export const textOf = (json: unknown, ...names: ReadonlyArray<string>): string | undefined => {
  const found = field(json, ...names)
  return Predicate.isString(found) ? found : undefined
}

export const listOf = (json: unknown, ...names: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const found = field(json, ...names)
  return Array.isArray(found) ? found : []
}

/** The pages of a list that are read at most: more than any of the platforms holds. */
const mostPages = 100

/** Reads the pages of a list until one is not full. */
export const pages = <E>(
  read: (page: number) => Effect.Effect<Answered, E>,
  rows: (answered: Answered) => ReadonlyArray<unknown>,
  perPage: number
): Effect.Effect<ReadonlyArray<unknown>, E | PlatformFailed> =>
  Effect.gen(function* () {
    const found: Array<unknown> = []
    for (let page = 1; page <= mostPages; page++) {
      const some = rows(yield* read(page))
      found.push(...some)
      if (some.length < perPage) return found
    }
    return yield* new PlatformFailed({ reason: "its list is too long", isUndone: true })
  })

/** Reads the pages of a list by the token of each next one. */
export const tokenPages = <E>(
  read: (token: string | undefined) => Effect.Effect<unknown, E>,
  name: string
): Effect.Effect<ReadonlyArray<unknown>, E | PlatformFailed> =>
  Effect.gen(function* () {
    const found: Array<unknown> = []
    let token: string | undefined
    for (let page = 1; page <= mostPages * 10; page++) {
      const json = yield* read(token)
      found.push(...listOf(json, name))
      token = textOf(json, "NextToken")
      if (token === undefined || token === "") return found
    }
    return yield* new PlatformFailed({ reason: "its list is too long", isUndone: true })
  })
