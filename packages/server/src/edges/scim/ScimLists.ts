import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { mapInSlices } from "../../base/EventLoop.js"
import { invalid, type ScimRefusal } from "../../http/scim/ScimErrors.js"
import { type Attribute, findAttribute, type Resource, withoutSchema } from "./ScimAttributes.js"
import { maxResults } from "./ScimDescriptions.js"
import { type Filter, matches, parseFilter, valuesAt } from "./ScimFilter.js"

/** The parameters of a list or a search (RFC 7644, sections 3.4.2 and 3.4.3). */
export interface Query {
  readonly filter: Filter | null
  /** From 0. */
  readonly skipped: number
  readonly count: number
  readonly sortBy: ReadonlyArray<string> | null
  readonly isDescending: boolean
  readonly projection: Projection
}

/** The attributes to return: only some, or all but some. */
export interface Projection {
  readonly only: ReadonlyArray<ReadonlyArray<string>> | null
  readonly without: ReadonlyArray<ReadonlyArray<string>>
}

export type Parameters = (name: string) => unknown

const pathOf = (text: string, attributes: ReadonlyArray<Attribute>): ReadonlyArray<string> | null => {
  const [name = "", sub] = (withoutSchema(text.trim()) ?? "").split(".")
  const found = findAttribute(attributes, name)
  if (found === undefined) return null
  if (sub === undefined) return [found.name]
  const inner = findAttribute(found.subAttributes ?? [], sub)
  return inner === undefined ? null : [found.name, inner.name]
}

const pathsIn = (value: unknown, attributes: ReadonlyArray<Attribute>): ReadonlyArray<ReadonlyArray<string>> | null => {
  const names = Array.isArray(value)
    ? value.filter(Predicate.isString)
    : Predicate.isString(value)
      ? value.split(",")
      : []
  if (names.length === 0) return null
  return names.flatMap((name) => {
    const path = pathOf(name, attributes)
    return path === null ? [] : [path]
  })
}

const wholeNumber = (value: unknown, fallback: number): number | null => {
  if (value === undefined) return fallback
  const number = Predicate.isString(value) && /^-?[0-9]{1,9}$/.test(value) ? Number(value) : value
  return Predicate.isNumber(number) && Number.isInteger(number) ? number : null
}

export const readProjection = (
  get: Parameters,
  attributes: ReadonlyArray<Attribute>
): Either.Either<Projection, ScimRefusal> => {
  const only = pathsIn(get("attributes"), attributes)
  const without = pathsIn(get("excludedAttributes"), attributes)
  return only !== null && without !== null
    ? Either.left(invalid("invalidValue", "attributes cannot be combined with excludedAttributes"))
    : Either.right({ only, without: without ?? [] })
}

export const readQuery = (get: Parameters, attributes: ReadonlyArray<Attribute>): Either.Either<Query, ScimRefusal> =>
  Either.gen(function* () {
    const projection = yield* readProjection(get, attributes)
    const text = get("filter")
    const filter =
      text === undefined || text === ""
        ? null
        : Predicate.isString(text)
          ? yield* parseFilter(text, attributes)
          : yield* Either.left(invalid("invalidFilter", "filter: must be a text"))
    const [start, count] = [wholeNumber(get("startIndex"), 1), wholeNumber(get("count"), maxResults)]
    if (start === null || count === null) {
      return yield* Either.left(invalid("invalidValue", "startIndex, count: must be whole numbers"))
    }
    const sort = get("sortBy")
    const sortBy = Predicate.isString(sort) && sort !== "" ? pathOf(sort, attributes) : null
    const order = get("sortOrder")
    return {
      filter,
      skipped: Math.max(0, start - 1),
      count: Math.min(maxResults, Math.max(0, count)),
      sortBy,
      isDescending: Predicate.isString(order) && order.toLowerCase() === "descending",
      projection
    }
  })

const isObject = (value: unknown): value is Resource => Predicate.isRecord(value) && !Array.isArray(value)

/** A value with some of its attributes alone. */
const onlyAt = (value: unknown, names: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return value.map((one: unknown) => onlyAt(one, names))
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name))) : value
}

const withoutAt = (value: unknown, names: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return value.map((one: unknown) => withoutAt(one, names))
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name))) : value
}

/** These are always returned. */
const always: ReadonlySet<string> = new Set(["schemas", "id"])

const namedBelow = (all: ReadonlyArray<ReadonlyArray<string>>, name: string) => {
  const own = all.filter(([first]) => first === name)
  return { isWhole: own.some(({ length }) => length === 1), subs: new Set(own.flatMap(([, sub]) => sub ?? [])) }
}

/** A resource with the attributes that were asked for. */
export const projected = (resource: Resource, { only, without }: Projection): Resource => {
  if (only === null && without.length === 0) return resource
  return Object.fromEntries(
    Object.entries(resource).flatMap(([name, value]) => {
      if (always.has(name)) return [[name, value]]
      const { isWhole, subs } = namedBelow(only ?? without, name)
      if (only === null) return isWhole ? [] : [[name, subs.size > 0 ? withoutAt(value, subs) : value]]
      if (isWhole) return [[name, value]]
      return subs.size > 0 ? [[name, onlyAt(value, subs)]] : []
    })
  )
}

/** Whether a projection returns an attribute, or a part of it. */
export const returns = ({ only, without }: Projection, name: string): boolean =>
  only === null
    ? !without.some(([first, sub]) => first === name && sub === undefined)
    : only.some(([first]) => first === name)

const sortKey = (resource: Resource, path: ReadonlyArray<string>): string => {
  const values = valuesAt(resource, path)
  const first = values.find((value) => isObject(value) && value["primary"] === true) ?? values[0]
  const text: unknown = isObject(first) ? first["value"] : first
  return Predicate.isString(text) || Predicate.isBoolean(text) ? String(text).toLowerCase() : ""
}

/** Those of all resources that match, in their order. */
export const selected = <A>(
  all: ReadonlyArray<A>,
  resourceOf: (one: A) => Resource,
  { filter, isDescending, sortBy }: Query,
  attributes: ReadonlyArray<Attribute>
): Effect.Effect<ReadonlyArray<A>> =>
  Effect.gen(function* () {
    const keyed = yield* mapInSlices(all, (one) => {
      const resource = resourceOf(one)
      return {
        one,
        isMeant: filter === null || matches(filter, resource, attributes),
        key: sortBy === null ? "" : sortKey(resource, sortBy)
      }
    })
    const meant = keyed.filter(({ isMeant }) => isMeant)
    if (sortBy !== null) {
      const sign = isDescending ? -1 : 1
      meant.sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -sign : sign))
    }
    return meant.map(({ one }) => one)
  })

/** A list (RFC 7644, section 3.4.2). */
export const listResponse = (resources: ReadonlyArray<Resource>, total: number, skipped: number): Resource => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
  totalResults: total,
  startIndex: skipped + 1,
  itemsPerPage: resources.length,
  Resources: resources
})
