import { brokenRules } from "@coffer/domain/BrokenRules"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/** What a form makes of a text: a value of the contract, or what is wrong with it. */
export const decodeForm = <A, I>(schema: Schema.Schema<A, I>, input: unknown): Either.Either<A, string> =>
  Either.mapLeft(Schema.decodeUnknownEither(schema)(input), (error) => {
    const [rule] = brokenRules(error)
    return rule?.sentence === undefined ? "this is not complete" : `${rule.path.join(".")}: ${rule.sentence}`
  })

/** The words of a list that people separate by commas, spaces or lines. */
export const wordsOf = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((word) => word !== "")
