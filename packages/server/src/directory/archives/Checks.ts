import { LimitExceeded, ValidationError } from "@coffer/domain/errors/Errors"

/** Why an organization of an archive is refused; null if it is not. */
export type Problem = LimitExceeded | ValidationError | null

export const invalid = (message: string) => new ValidationError({ message: `organization: ${message}` })

export const tooMany = (what: string, limit: number) => new LimitExceeded({ message: `${what} has at most ${limit}` })

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
