import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import { invalidValue } from "@effect/cli/ValidationError"
import { isOwnMessage } from "@coffer/domain/Message"
import { Effect, Either, ParseResult, Schema } from "effect"

/**
 * What is wrong with an option or argument, by its name. The words are those of the contract's schemas: any others may hold
 * the value.
 *
 * @param takes what to say where the schema does not.
 */
export const sentenceFor = (name: string, error: ParseResult.ParseError, takes = "another value"): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  if (issue === undefined || !isOwnMessage(issue.message)) return `${name} takes ${takes}`
  const { message } = issue
  return message.startsWith("must ") ? `${name} ${message}` : message.startsWith("-") ? message : `${name}: ${message}`
}

const refuse = (sentence: string) => invalidValue(HelpDoc.p(sentence))

/** An option with a value of this schema. */
export const checked = <A>(name: string, schema: Schema.Schema<A, string>): Options.Options<A> => {
  const decode = Schema.decodeEither(schema)
  return Options.text(name).pipe(
    Options.mapEffect((text) =>
      Effect.suspend(() => Either.mapLeft(decode(text), (error) => refuse(sentenceFor(`--${name}`, error))))
    )
  )
}

const number = (text: string) => (/^-?[0-9]{1,15}$/.test(text) ? Number(text) : NaN)

/**
 * An option with a whole number.
 *
 * @param schema a number of the contract, of a body or of a query string.
 */
export const wholeNumber = <I>(name: string, schema: Schema.Schema<number, I>): Options.Options<number> => {
  const decode = Schema.decodeEither(Schema.typeSchema(schema))
  return Options.text(name).pipe(
    Options.withPseudoName("integer"),
    Options.mapEffect((text) =>
      Effect.suspend(() =>
        Either.mapLeft(decode(number(text)), (error) => refuse(sentenceFor(`--${name}`, error, "a whole number")))
      )
    )
  )
}

/**
 * An option with several values, separated by commas.
 *
 * @param takes what the values are, for people.
 */
export const commaList = <A, I>(
  name: string,
  schema: Schema.Schema<ReadonlyArray<A>, I>,
  parse: (part: string) => unknown,
  takes: string
) => {
  const decode = Schema.decodeUnknownEither(schema)
  return Options.text(name).pipe(
    Options.mapEffect((text) =>
      Effect.suspend(() =>
        Either.mapLeft(decode([...new Set(text.split(",").map(parse))]), (error) => {
          const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
          const ofItem = (issue?.path.length ?? 0) > 0
          return refuse(ofItem ? `--${name} takes ${takes}, separated by commas` : sentenceFor(`--${name}`, error))
        })
      )
    )
  )
}

/** The number of a version, out of a list; what is none breaks the schema. */
export const versionNumber = (part: string): number => (/^[1-9][0-9]{0,9}$/.test(part) ? Number(part) : NaN)
