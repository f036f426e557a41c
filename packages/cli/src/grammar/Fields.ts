import { brokenRules, sentenceOf } from "@coffer/domain/errors/BrokenRules"
import { spanOrSecondsMillis } from "@coffer/domain/base/Span"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Specs from "./Specs.js"
import { type ArgumentSpec, type Codec, type OptionSpec, wholeNumber } from "./Specs.js"
import { choiceProblem } from "./Words.js"

/** A schema of the contract or of this program, or a codec of its own. */
type Source<A, I> = Schema.Schema<A, I> | Codec<A>

/**
 * Describes the problem with an option or argument, by its name. The words are those of the contract's schemas, because any
 * others may hold the value.
 *
 * @param takes what to say where the schema does not.
 */
const sentenceFor = (name: string, error: ParseResult.ParseError, takes: string): string => {
  const sentence = sentenceOf(error, `takes ${takes}`)
  if (/^(?:must|takes) /.test(sentence)) return `${name} ${sentence}`
  return sentence.startsWith("-") ? sentence : `${name}: ${sentence}`
}

/** The longest example that a description shows. */
const maxExample = 30

/** The contract's description of a schema, as the help shows it, with an example of a text. */
const descriptionOf = ({ ast }: Schema.Schema.All): string => {
  const description = Option.getOrElse(SchemaAST.getDescriptionAnnotation(ast), () => "").replaceAll("`", "")
  const [example] = Option.getOrElse(SchemaAST.getExamplesAnnotation(ast), () => [])
  const isShown = typeof example === "string" && example.length <= maxExample && !description.includes("such as")
  return description.charAt(0).toUpperCase() + description.slice(1) + (isShown ? `; for example ${example}` : "")
}

/** The texts of a union of literals. */
const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined => {
  const members = SchemaAST.isUnion(ast) ? ast.types : [ast]
  const literals = members.flatMap((member) =>
    SchemaAST.isLiteral(member) && typeof member.literal === "string" ? [member.literal] : []
  )
  return literals.length === members.length ? literals : undefined
}

const isNumber = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isRefinement(ast) ? isNumber(ast.from) : SchemaAST.isNumberKeyword(ast)

/** How a text becomes a value of a schema. */
export const codecOf = <A, I>(schema: Schema.Schema<A, I>): Codec<A> => {
  const description = descriptionOf(schema)
  const type = SchemaAST.typeAST(schema.ast)
  if (isNumber(type)) {
    const decode = (name: string, text: string) =>
      Either.mapLeft(Schema.decodeUnknownEither(Schema.typeSchema(schema))(wholeNumber(text)), (error) =>
        sentenceFor(name, error, "a whole number")
      )
    return { value: "integer", description, decode }
  }
  const choices = literalsOf(type)
  const decode = (name: string, text: string) =>
    Either.mapLeft(Schema.decodeUnknownEither(schema)(text), (error) =>
      choices === undefined ? sentenceFor(name, error, "another value") : choiceProblem(name, choices, text)
    )
  return { value: "text", description, decode, ...(choices === undefined ? {} : { choices }) }
}

const codec = <A, I>(source: Source<A, I>): Codec<A> => ("decode" in source ? source : codecOf(source))

/**
 * Several values, separated by commas.
 *
 * @param takes what the values are, for people.
 */
export const commas = <A, I>(
  schema: Schema.Schema<ReadonlyArray<A>, I>,
  takes: string,
  parse: (part: string) => unknown = (part) => part
): Codec<ReadonlyArray<A>> => ({
  value: "text",
  description: descriptionOf(schema),
  decode: (name, text) =>
    Either.mapLeft(Schema.decodeUnknownEither(schema)([...new Set(text.split(",").map(parse))]), (error) => {
      const ofItem = (brokenRules(error)[0]?.path.length ?? 0) > 0
      return ofItem ? `${name} takes ${takes}, separated by commas` : sentenceFor(name, error, takes)
    })
})

/** Whole seconds, as a number alone or as a time such as `15m`. */
export const secondsOf = (schema: Schema.Schema<number>): Codec<number> => ({
  value: "text",
  description: `${descriptionOf(schema)}; also as a time, such as 15m`,
  decode: (name, text) =>
    Either.mapLeft(Schema.decodeUnknownEither(schema)(Math.ceil(spanOrSecondsMillis(text) / 1_000)), (error) =>
      sentenceFor(name, error, "a number of seconds, or a time such as 15m")
    )
})

/** Parses a version number; anything else becomes NaN, which the schema rejects. */
export const versionNumber = (part: string): number => (/^[1-9][0-9]{0,9}$/.test(part) ? Number(part) : NaN)

/** An option with a value of this schema. Its description is the schema's, unless one is given. */
export const option = <A, I>(name: string, source: Source<A, I>, description?: string): OptionSpec<A | undefined> => {
  const used = codec(source)
  return Specs.option(name, used, description ?? used.description)
}

/** An option that may be given again. */
export const repeatedOption = <A, I>(
  name: string,
  source: Source<A, I>,
  description: string
): OptionSpec<ReadonlyArray<A>> => Specs.repeatedOption(name, codec(source), description)

/** An option that must be given. */
export const requiredOption = <A, I>(name: string, source: Source<A, I>, description?: string): OptionSpec<A> => {
  const used = codec(source)
  return Specs.requiredOption(name, used, description ?? used.description)
}

/**
 * An option with a value of this schema that can be left out, which gives null. The value may be the next word, so the command
 * must have no arguments.
 *
 * @param value what the value is, for people.
 */
export const optionOrAlone = <A, I>(
  name: string,
  value: string,
  source: Source<A, I>,
  description: string
): OptionSpec<A | null | undefined> => {
  const { decode } = codec(source)
  const orNull = (option: string, text: string) => (text === "" ? Either.right(null) : decode(option, text))
  const used: Codec<A | null> = { value: "text", description, decode: orNull }
  const spec = Specs.optionWithDefault(name, value, used, description)
  return { data: { ...spec.data, isValueNext: true }, decode: spec.decode }
}

/** An argument with a value of this schema. Its description is the schema's, unless one is given. */
export const argument = <A, I>(name: string, source: Source<A, I>, description?: string): ArgumentSpec<A> => {
  const used = codec(source)
  return Specs.argument(name, used, description ?? used.description)
}

export const optionalArgument = <A, I>(
  name: string,
  source: Source<A, I>,
  description?: string
): ArgumentSpec<A | undefined> => {
  const used = codec(source)
  return Specs.optionalArgument(name, used, description ?? used.description)
}

/** Arguments of one kind, from `least` to `most` of them. */
export const argumentsOf = <A, I>(
  name: string,
  source: Source<A, I>,
  count: { readonly least: number; readonly most: number },
  description?: string
): ArgumentSpec<ReadonlyArray<A>> => {
  const used = codec(source)
  return Specs.argumentsOf(name, used, count, description ?? used.description)
}
