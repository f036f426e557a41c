import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { invalid, type ScimRefusal } from "../../http/scim/ScimErrors.js"
import { type Attribute, findAttribute, type Resource } from "./ScimAttributes.js"

const longestText = 1_000

type Read<A> = Either.Either<A, ScimRefusal>

export const isObject = (value: unknown): value is Resource => Predicate.isRecord(value) && !Array.isArray(value)

const wrong = ({ name }: Attribute, what: string) => invalid("invalidValue", `${name}: must be ${what}`)

/** Entra sends booleans as texts. */
const booleanOf = (attribute: Attribute, value: unknown): Read<boolean> => {
  if (Predicate.isBoolean(value)) return Either.right(value)
  return Predicate.isString(value) && /^(?:true|false)$/i.test(value)
    ? Either.right(value.toLowerCase() === "true")
    : Either.left(wrong(attribute, "true or false"))
}

const textOf = (attribute: Attribute, value: unknown): Read<string> =>
  Predicate.isString(value) && value.length <= longestText && !/\p{Cc}/u.test(value)
    ? Either.right(value)
    : Either.left(wrong(attribute, `a text of at most ${longestText} characters, without control characters`))

/** A value of an attribute, or an element of a list, without what is unknown and what only the server sets; undefined for none. */
export const readElement = (attribute: Attribute, value: unknown): Read<unknown> => {
  switch (attribute.type) {
    case "boolean":
      return booleanOf(attribute, value)
    case "complex": {
      // A plain text stands for an element with this value.
      if (Predicate.isString(value) && attribute.multiValued === true)
        return readObject(attribute.subAttributes ?? [], { value })
      return isObject(value)
        ? readObject(attribute.subAttributes ?? [], value)
        : Either.left(wrong(attribute, "an object"))
    }
    default:
      return textOf(attribute, value)
  }
}

/** The value of an attribute as it is stored; undefined for none. */
export const readValue = (attribute: Attribute, value: unknown): Read<unknown> => {
  if (value === null || value === undefined) return Either.right(undefined)
  if (attribute.multiValued !== true) return readElement(attribute, value)
  return Either.all((Array.isArray(value) ? value : [value]).map((one: unknown) => readElement(attribute, one)))
}

/** An object with the attributes of a table, by their names in any case. Others are ignored, and what only the server sets. */
export const readObject = (attributes: ReadonlyArray<Attribute>, object: Resource): Read<Resource> =>
  Either.gen(function* () {
    const read: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(object)) {
      const attribute = findAttribute(attributes, name)
      if (attribute === undefined || attribute.mutability === "readOnly") continue
      const found = yield* readValue(attribute, value)
      if (found !== undefined) read[attribute.name] = found
    }
    return read
  })
