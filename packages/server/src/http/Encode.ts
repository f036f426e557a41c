import { Option, Predicate, Redacted, SchemaAST } from "effect"

/** What stands for a value that is not of its kind. */
export const unfit: unique symbol = Symbol("unfit")

type Encode = (value: unknown) => unknown

const kind =
  (is: Predicate.Predicate<unknown>): Encode =>
  (value) =>
    is(value) ? value : unfit

const isRedacted = (ast: SchemaAST.AST): boolean =>
  Option.exists(
    SchemaAST.getTypeConstructorAnnotation(ast),
    (constructor) => Predicate.hasProperty(constructor, "_tag") && constructor._tag === "effect/Redacted"
  )

/** Whether what is encoded is what it was. */
const isPlain = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Refinement"
    ? isPlain(ast.from)
    : ["StringKeyword", "NumberKeyword", "BooleanKeyword", "UndefinedKeyword", "Literal"].includes(ast._tag)

const redacted =
  (encode: Encode): Encode =>
  (value) =>
    Redacted.isRedacted(value) ? encode(Redacted.value(value)) : unfit

const list =
  (encode: Encode): Encode =>
  (value) => {
    if (!Array.isArray(value)) return unfit
    const encoded = value.map(encode)
    return encoded.includes(unfit) ? unfit : encoded
  }

const struct =
  (
    fields: ReadonlyArray<{ readonly name: PropertyKey; readonly optional: boolean; readonly encode: Encode }>
  ): Encode =>
  (value) => {
    if (!Predicate.isObject(value)) return unfit
    const encoded: Record<PropertyKey, unknown> = {}
    for (const { encode, name, optional } of fields) {
      if (!Predicate.hasProperty(value, name)) {
        if (optional) continue
        return unfit
      }
      const field = encode(value[name])
      if (field === unfit) return unfit
      encoded[name] = field
    }
    return encoded
  }

const anyOf =
  (encoders: ReadonlyArray<Encode>): Encode =>
  (value) => {
    for (const encode of encoders) {
      const encoded = encode(value)
      if (encoded !== unfit) return encoded
    }
    return unfit
  }

const all = (encoders: ReadonlyArray<Encode | null>): ReadonlyArray<Encode> | null =>
  encoders.every(Predicate.isNotNull) ? encoders : null

/**
 * Encodes answers by their kind alone: this program made them, and what refines text or numbers held then. Fields that the
 * schema does not have are left out, as ever. Null where a schema is of a kind that this does not know; `unfit` is answered
 * for a value that is none of the schema's kind: the schema itself tells what is wrong with it.
 */
export const encoding = (ast: SchemaAST.AST): Encode | null => {
  switch (ast._tag) {
    case "StringKeyword":
      return kind(Predicate.isString)
    case "NumberKeyword":
      return kind(Predicate.isNumber)
    case "BooleanKeyword":
      return kind(Predicate.isBoolean)
    case "UndefinedKeyword":
      return kind(Predicate.isUndefined)
    case "Literal":
      return kind((value) => value === ast.literal)
    case "Refinement":
      return encoding(ast.from)
    case "Union": {
      // Of several structs, rules may tell which one it is.
      const encoders = ast.types.every(isPlain) ? all(ast.types.map(encoding)) : null
      return encoders === null ? null : anyOf(encoders)
    }
    case "Transformation": {
      const encode = isRedacted(ast.to) ? encoding(ast.from) : null
      return encode === null ? null : redacted(encode)
    }
    case "TupleType": {
      const [rest, ...others] = ast.rest
      if (rest === undefined || others.length > 0 || ast.elements.length > 0) return null
      const encode = encoding(rest.type)
      return encode === null ? null : list(encode)
    }
    case "TypeLiteral": {
      if (ast.indexSignatures.length > 0) return null
      const encoders = all(ast.propertySignatures.map(({ type }) => encoding(type)))
      if (encoders === null) return null
      return struct(
        ast.propertySignatures.flatMap(({ isOptional, name }, index) => {
          const encode = encoders[index]
          return encode === undefined ? [] : [{ name, optional: isOptional, encode }]
        })
      )
    }
    default:
      return null
  }
}
