import { brokenRules } from "@coffer/domain/errors/BrokenRules"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/** The labels of fields, by the names that the contract has for them. */
type Labels = Readonly<Record<string, string>>

/** Decodes the input of a form. The result is a value of the contract, or the problem with the input. */
export const decodeForm = <A, I>(
  schema: Schema.Schema<A, I>,
  input: unknown,
  labels: Labels = {}
): Either.Either<A, string> =>
  Either.mapLeft(Schema.decodeUnknownEither(schema)(input), (error) => {
    const [rule] = brokenRules(error)
    if (rule?.sentence === undefined) return "this is not complete"
    const label = labels[String(rule.path[0])]
    return `${label ?? rule.path.join(".")}: ${rule.sentence}`
  })

/** The words of a list that people separate by commas, spaces or lines. */
export const wordsOf = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((word) => word !== "")
