import { type LimitExceeded, ValidationError } from "@coffer/domain/errors/Errors"
import { farEndProblem } from "../Ends.js"

/** Why an organization of an archive is refused; null if it is not. */
export type Problem = LimitExceeded | ValidationError | null

export const invalid = (message: string) => new ValidationError({ message: `organization: ${message}` })

const twice = (names: ReadonlyArray<string>): string | undefined => {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

export const uniqueNames = (what: string, names: ReadonlyArray<string>): Problem => {
  const name = twice(names)
  return name === undefined ? null : invalid(`has the ${what} ${name} twice`)
}

export const unknownName = (what: string, known: ReadonlySet<string>, names: ReadonlyArray<string>): Problem => {
  const name = names.find((one) => !known.has(one))
  return name === undefined ? null : invalid(`names the ${what} ${name}, which it does not have`)
}

export const namesIn = (records: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> =>
  records.map(({ name }) => name)

/** Returns the first problem of some. */
export const firstOf = (problems: ReadonlyArray<Problem>): Problem => problems.find((one) => one !== null) ?? null

/** The problem with a record that ends too far ahead. An end that has passed since the export is none. */
export const endProblem = (
  what: string,
  { expires_at }: { readonly expires_at?: string },
  now: number,
  days: number
): Problem => {
  const wrong = expires_at === undefined ? null : farEndProblem(Date.parse(expires_at), now, days)
  return wrong === null ? null : invalid(`${what}: ${wrong}`)
}
