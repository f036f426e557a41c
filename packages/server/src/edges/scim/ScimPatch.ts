import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { pacing } from "../../base/EventLoop.js"
import { invalid, type ScimRefusal } from "../../http/scim/ScimErrors.js"
import { type Attribute, findAttribute, isIgnored, type Resource, withoutSchema } from "./ScimAttributes.js"
import { elementOf, type Filter, matches, onlyEquals, parseFilter } from "./ScimFilter.js"
import { isObject, readElement, readValue } from "./ScimValues.js"

type Patched<A> = Either.Either<A, ScimRefusal>

const maxOperations = 1_000

/** The attribute that an operation is about. */
interface Target {
  readonly attribute: Attribute
  readonly sub: Attribute | null
  readonly filter: Filter | null
}

type Op = "add" | "replace" | "remove"

const shown = (path: string) => (/^[A-Za-z0-9_.$:[\]" @-]{1,200}$/.test(path) ? path : "a path")

/** The target of a path; null for what means nothing here. */
const targetOf = (path: string, attributes: ReadonlyArray<Attribute>): Patched<Target | null> =>
  Either.gen(function* () {
    const plain = withoutSchema(path.trim())
    if (plain === null) return null
    const [, name = "", inner = null, subName = null] =
      /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s.exec(plain) ?? []
    const attribute = findAttribute(attributes, name)
    if (attribute === undefined) {
      return isIgnored(name) ? null : yield* Either.left(invalid("invalidPath", `path: ${shown(path)} is no attribute`))
    }
    const subs = attribute.subAttributes ?? []
    const sub = subName === null ? null : (findAttribute(subs, subName) ?? null)
    if ((subName !== null && sub === null) || (inner !== null && attribute.multiValued !== true)) {
      return yield* Either.left(invalid("invalidPath", `path: ${shown(path)} is no attribute`))
    }
    if (attribute.mutability === "readOnly" || sub?.mutability === "readOnly") {
      return yield* Either.left(invalid("mutability", `path: only the server sets ${shown(path)}`))
    }
    const filter = inner === null ? null : yield* parseFilter(inner, subs)
    return { attribute, sub, filter }
  })

const elementsOf = (value: unknown): ReadonlyArray<Resource> => (Array.isArray(value) ? value.filter(isObject) : [])

const keyOf = ({ value, ...others }: Resource): string =>
  Predicate.isString(value) ? value : JSON.stringify({ value, others })

/** Adds elements, each once; an element of the same value takes the new one's attributes. Only one stays primary. */
const joined = (before: ReadonlyArray<Resource>, added: ReadonlyArray<Resource>): ReadonlyArray<Resource> => {
  const elements = new Map(before.map((element) => [keyOf(element), element]))
  const hasPrimary = added.some((element) => element["primary"] === true)
  if (hasPrimary) {
    for (const [key, element] of elements)
      if (element["primary"] === true) elements.set(key, { ...element, primary: false })
  }
  for (const element of added) elements.set(keyOf(element), { ...elements.get(keyOf(element)), ...element })
  return [...elements.values()]
}

const without = (object: Resource, name: string): Resource =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))

const noTarget = (path: string) => invalid("noTarget", `path: nothing matches ${shown(path)}`)

/** Whether an element is meant. Directories name members by their ids, one in an operation: that comparison must be quick. */
const meaning = (filter: Filter | null, subs: ReadonlyArray<Attribute>): ((element: Resource) => boolean) => {
  if (filter === null) return () => true
  const wanted = onlyEquals(filter)
  return wanted?.path === "value" && findAttribute(subs, "value")?.caseExact === true
    ? ({ value }) => value === wanted.value
    : (element) => matches(filter, element, subs)
}

/** Applies an operation to the elements of a list. */
const onElements = (
  before: ReadonlyArray<Resource>,
  op: Op,
  { attribute, filter, sub }: Target,
  value: unknown,
  path: string
): Patched<ReadonlyArray<Resource>> =>
  Either.gen(function* () {
    const subs = attribute.subAttributes ?? []
    const isMeant = meaning(filter, subs)
    const found = before.filter(isMeant)
    if (sub === null && filter === null) {
      if (op === "remove") {
        if (value === undefined) return []
        // Entra names the elements to remove in the value.
        const gone = new Set(elementsOf(yield* readValue(attribute, value)).map(keyOf))
        return before.filter((element) => !gone.has(keyOf(element)))
      }
      const read = elementsOf(yield* readValue(attribute, value))
      return joined(op === "add" ? before : [], read)
    }
    if (op === "remove") {
      return before.flatMap((element) => {
        if (!isMeant(element)) return [element]
        return sub === null ? [] : [without(element, sub.name)]
      })
    }
    const change = sub === null ? yield* readElement(attribute, value) : undefined
    const part: unknown = sub === null ? change : { [sub.name]: yield* readValue(sub, value) }
    if (!isObject(part))
      return yield* Either.left(invalid("invalidValue", `value: must be an object at ${shown(path)}`))
    if (found.length === 0) {
      const made = filter === null ? {} : elementOf(filter)
      if (made === null || op === "replace") return yield* Either.left(noTarget(path))
      return joined(before, [{ ...made, ...part }])
    }
    const isPrimary = part["primary"] === true
    return before.map((element) => {
      if (isMeant(element)) return { ...element, ...part }
      return isPrimary && element["primary"] === true ? { ...element, primary: false } : element
    })
  })

const applied = (
  resource: Resource,
  op: Op,
  path: string,
  value: unknown,
  attributes: ReadonlyArray<Attribute>
): Patched<Resource> =>
  Either.gen(function* () {
    const target = yield* targetOf(path, attributes)
    if (target === null) return resource
    const { attribute, sub } = target
    const { name } = attribute
    const before = resource[name]
    if (attribute.multiValued === true) {
      const after = yield* onElements(elementsOf(before), op, target, value, path)
      return after.length === 0 ? without(resource, name) : { ...resource, [name]: after }
    }
    if (op === "remove") {
      if (sub === null) {
        if (attribute.required === true) {
          return yield* Either.left(invalid("mutability", `path: ${name} is required`))
        }
        return without(resource, name)
      }
      return isObject(before) ? { ...resource, [name]: without(before, sub.name) } : resource
    }
    const read = yield* readValue(sub ?? attribute, value)
    if (sub !== null) {
      const object = isObject(before) ? before : {}
      return { ...resource, [name]: read === undefined ? without(object, sub.name) : { ...object, [sub.name]: read } }
    }
    if (read === undefined) return without(resource, name)
    // A complex attribute keeps what the value does not name (RFC 7644, sections 3.5.2.1 and 3.5.2.3).
    return { ...resource, [name]: isObject(read) && isObject(before) ? { ...before, ...read } : read }
  })

/** An operation without a path has attributes in its value, of which some directories write paths as names. */
const spread = (resource: Resource, op: Op, value: unknown, attributes: ReadonlyArray<Attribute>): Patched<Resource> =>
  Either.gen(function* () {
    if (!isObject(value)) return yield* Either.left(invalid("invalidValue", "value: must be an object without a path"))
    let patched = resource
    for (const [name, one] of Object.entries(value)) {
      const plain = withoutSchema(name)
      const isReadOnly =
        plain === null || findAttribute(attributes, plain.split(/[.[]/, 1)[0] ?? "")?.mutability === "readOnly"
      if (!isReadOnly) patched = yield* applied(patched, op, name, one, attributes)
    }
    return patched
  })

const opOf = (op: unknown): Op | null => {
  const word = Predicate.isString(op) ? op.toLowerCase() : ""
  return word === "add" || word === "replace" || word === "remove" ? word : null
}

/** Applies the operations of a request (RFC 7644, section 3.5.2) to a resource, all or none. */
export const patched = (
  resource: Resource,
  body: unknown,
  attributes: ReadonlyArray<Attribute>
): Effect.Effect<Resource, ScimRefusal> =>
  Effect.gen(function* () {
    const entries = isObject(body) ? Object.entries(body) : []
    const found: unknown = entries.find(([name]) => name.toLowerCase() === "operations")?.[1]
    const operations: ReadonlyArray<unknown> = Array.isArray(found) ? found : []
    if (operations.length === 0 || operations.length > maxOperations) {
      return yield* invalid("invalidSyntax", `Operations: must be 1 to ${maxOperations} operations`)
    }
    const pace = pacing()
    let result = resource
    for (const operation of operations) {
      yield* pace
      const { op: word, path, value } = isObject(operation) ? operation : {}
      const op = opOf(word)
      if (op === null) return yield* invalid("invalidSyntax", "op: must be add, remove or replace")
      if (path !== undefined && path !== null && !Predicate.isString(path)) {
        return yield* invalid("invalidPath", "path: must be a text")
      }
      const isWhole = path === undefined || path === null || path === ""
      if (op === "remove" && isWhole) return yield* invalid("noTarget", "path: is required to remove")
      if (op !== "remove" && value === undefined) return yield* invalid("invalidValue", `value: is required to ${op}`)
      result = isWhole
        ? yield* spread(result, op, value, attributes)
        : yield* applied(result, op, path, value, attributes)
    }
    return result
  })
