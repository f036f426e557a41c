import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { invalid, type ScimRefusal } from "../../http/scim/ScimErrors.js"
import { type Attribute, findAttribute, type Resource, withoutSchema } from "./ScimAttributes.js"

const operators = ["eq", "co", "sw"] as const
type Operator = (typeof operators)[number]

type Value = string | number | boolean | null

/** A filter (RFC 7644, section 3.4.2.2). */
export type Filter =
  | { readonly _tag: "and" | "or"; readonly left: Filter; readonly right: Filter }
  | { readonly _tag: "present"; readonly path: ReadonlyArray<string> }
  | {
      readonly _tag: "compare"
      readonly path: ReadonlyArray<string>
      readonly operator: Operator
      readonly value: Value
    }
  | { readonly _tag: "some"; readonly path: ReadonlyArray<string>; readonly filter: Filter }

const longest = 2_000
const deepest = 20

type Parsed<A> = Either.Either<A, ScimRefusal>

const refused = (why: string) => invalid("invalidFilter", `filter: ${why}`)

/** A token: a text in quotes with its quotes, a parenthesis or bracket, or a word. */
const tokenPattern = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s()[\]"]+))/y

const tokensOf = (text: string): Parsed<ReadonlyArray<string>> => {
  if (text.length > longest) return Either.left(refused(`must have at most ${longest} characters`))
  const tokens: Array<string> = []
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < text.length) {
    const at = tokenPattern.lastIndex
    const [, quoted, bracket, word] = tokenPattern.exec(text) ?? []
    const token = quoted ?? bracket ?? word
    if (token === undefined) {
      if (text.slice(at).trim() === "") break
      return Either.left(refused("has a text without its closing quote"))
    }
    tokens.push(token)
  }
  return Either.right(tokens)
}

const isOperator = (text: string): text is Operator => operators.some((one) => one === text)

const valueOf = (token: string): Value | undefined => {
  if (/^(?:true|false|null)$/i.test(token))
    return token.toLowerCase() === "null" ? null : token.toLowerCase() === "true"
  if (!token.startsWith('"') && !/^-?[0-9]+(?:\.[0-9]+)?$/.test(token)) return undefined
  const value = Either.getOrUndefined(Either.try((): unknown => JSON.parse(token)))
  return Predicate.isString(value) || Predicate.isNumber(value) ? value : undefined
}

/** Parses filters on the attributes of a resource. */
export const parseFilter = (text: string, attributes: ReadonlyArray<Attribute>): Parsed<Filter> =>
  Either.flatMap(tokensOf(text), (tokens) =>
    Either.gen(function* () {
      let next = 0

      const take = (): string => tokens[next++] ?? ""
      const peek = (): string => (tokens[next] ?? "").toLowerCase()

      const pathOf = (token: string, within: ReadonlyArray<Attribute>): Parsed<ReadonlyArray<string>> => {
        const plain = withoutSchema(token)
        const [name = "", ...rest] = plain === null ? [] : plain.split(".")
        const found = findAttribute(within, name)
        const [subName] = rest
        const sub = subName === undefined ? undefined : findAttribute(found?.subAttributes ?? [], subName)
        return found === undefined || rest.length > 1 || (subName !== undefined && sub === undefined)
          ? Either.left(refused(`${/^[A-Za-z0-9_.$:-]{1,100}$/.test(token) ? token : "a name"} is no attribute`))
          : Either.right(sub === undefined ? [found.name] : [found.name, sub.name])
      }

      const parseTerm = (within: ReadonlyArray<Attribute>, depth: number): Parsed<Filter> =>
        Either.gen(function* () {
          if (depth > deepest) return yield* Either.left(refused("has too many parentheses"))
          const token = take()
          if (token === "(") {
            const inner = yield* parseOr(within, depth + 1)
            if (take() !== ")") return yield* Either.left(refused("has no closing parenthesis"))
            return inner
          }
          if (token.toLowerCase() === "not") return yield* Either.left(refused("not is not offered"))
          if (token === "" || /^["()[\]]/.test(token)) return yield* Either.left(refused("an attribute is missing"))
          const path = yield* pathOf(token, within)
          if (peek() === "[") {
            take()
            const [name = ""] = path
            const filter = yield* parseOr(findAttribute(within, name)?.subAttributes ?? [], depth + 1)
            if (take() !== "]") return yield* Either.left(refused("has no closing bracket"))
            return { _tag: "some", path, filter }
          }
          const operator = take().toLowerCase()
          if (operator === "pr") return { _tag: "present", path }
          if (!isOperator(operator)) {
            return yield* Either.left(
              refused(
                `${/^[a-z]{1,10}$/.test(operator) ? operator : "an operator"} is not offered: eq, co, sw, pr, and, or are`
              )
            )
          }
          const value = valueOf(take())
          if (value === undefined) return yield* Either.left(refused("a value is missing, or is not in JSON's form"))
          return { _tag: "compare", path, operator, value }
        })

      const parseChain = (
        word: "and" | "or",
        parseNext: (within: ReadonlyArray<Attribute>, depth: number) => Parsed<Filter>
      ) =>
        function parse(within: ReadonlyArray<Attribute>, depth: number): Parsed<Filter> {
          return Either.gen(function* () {
            let filter = yield* parseNext(within, depth)
            while (peek() === word) {
              take()
              filter = { _tag: word, left: filter, right: yield* parseNext(within, depth) }
            }
            return filter
          })
        }

      const parseAnd = parseChain("and", parseTerm)
      const parseOr: (within: ReadonlyArray<Attribute>, depth: number) => Parsed<Filter> = (within, depth) =>
        parseChain("or", parseAnd)(within, depth)

      const filter = yield* parseOr(attributes, 0)
      return next < tokens.length ? yield* Either.left(refused("goes on after its end")) : filter
    })
  )

const isObject = (value: unknown): value is Resource => Predicate.isRecord(value) && !Array.isArray(value)

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [value])

/** The values at a path: those of each element of a list. */
export const valuesAt = (resource: unknown, [name, ...rest]: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  if (name === undefined) return listOf(resource).filter((value) => value !== undefined && value !== null)
  return listOf(resource).flatMap((one) => (isObject(one) ? valuesAt(one[name], rest) : []))
}

/** A comparison with a whole element is one with its value. */
const comparable = (value: unknown): unknown => (isObject(value) ? value["value"] : value)

const caseExactAt = (path: ReadonlyArray<string>, attributes: ReadonlyArray<Attribute>): boolean => {
  const [name = "", sub = "value"] = path
  const found = findAttribute(attributes, name)
  return (findAttribute(found?.subAttributes ?? [], sub) ?? found)?.caseExact === true
}

const compares = (operator: Operator, value: unknown, wanted: Value, isExact: boolean): boolean => {
  if (!Predicate.isString(value) || !Predicate.isString(wanted)) return operator === "eq" && value === wanted
  const [text, part] = isExact ? [value, wanted] : [value.toLowerCase(), wanted.toLowerCase()]
  switch (operator) {
    case "eq":
      return text === part
    case "co":
      return text.includes(part)
    case "sw":
      return text.startsWith(part)
  }
}

/** Whether a resource, or an element of a list, matches. */
export const matches = (filter: Filter, resource: unknown, attributes: ReadonlyArray<Attribute>): boolean => {
  switch (filter._tag) {
    case "and":
      return matches(filter.left, resource, attributes) && matches(filter.right, resource, attributes)
    case "or":
      return matches(filter.left, resource, attributes) || matches(filter.right, resource, attributes)
    case "present":
      return valuesAt(resource, filter.path).some((value) => value !== "")
    case "compare": {
      const isExact = caseExactAt(filter.path, attributes)
      const values = valuesAt(resource, filter.path).map(comparable)
      if (filter.value === null) return filter.operator === "eq" && values.length === 0
      return values.some((value) => compares(filter.operator, value, filter.value, isExact))
    }
    case "some": {
      const [name = ""] = filter.path
      const within = findAttribute(attributes, name)?.subAttributes ?? []
      return valuesAt(resource, filter.path).some((value) => matches(filter.filter, value, within))
    }
  }
}

/** The value that a filter wants of one attribute, if it is that comparison alone. */
export const onlyEquals = (filter: Filter): { readonly path: string; readonly value: string } | null =>
  filter._tag === "compare" && filter.operator === "eq" && Predicate.isString(filter.value)
    ? { path: filter.path.join("."), value: filter.value }
    : null

/** The attributes that comparisons joined by `and` give an element which does not exist yet; null for other filters. */
export const elementOf = (filter: Filter): Resource | null => {
  if (filter._tag === "compare" && filter.operator === "eq") return { [filter.path.join(".")]: filter.value }
  if (filter._tag !== "and") return null
  const [left, right] = [elementOf(filter.left), elementOf(filter.right)]
  return left === null || right === null ? null : { ...left, ...right }
}
