import type { UseMethod } from "@coffer/domain/secrets/UseMethod"
import { fitsPaths, isDeceptivePath, type UseTerms } from "@coffer/domain/secrets/UseRule"
import * as Either from "effect/Either"

/** A request reduced to what rules look at. */
export interface Target {
  readonly host: string
  readonly method: UseMethod
  readonly path: string
}

/** The host as rules name it: with the port unless it is 443. */
const hostOf = ({ hostname, port, protocol }: URL): string => {
  const number = port === "" ? (protocol === "https:" ? "443" : "80") : port
  return number === "443" ? hostname : `${hostname}:${number}`
}

/** The path as it is written, which must be the one that is sent. */
const writtenPath = (text: string): string => {
  const [, path = ""] = /^[a-z]+:\/\/[^/?]*([^?]*)/i.exec(text) ?? []
  return path === "" ? "/" : path
}

export const targetOf = (text: string, url: URL, method: UseMethod): Either.Either<Target, string> => {
  const path = writtenPath(text)
  return path !== url.pathname || isDeceptivePath(path)
    ? Either.left("the path has dot segments, empty segments, or encoded dots, slashes or percent signs")
    : Either.right({ host: hostOf(url), method, path })
}

export interface Candidate<Rule> {
  readonly rule: Rule
  readonly terms: UseTerms
}

/** Returns the first rule that fits, or says which part of the request is in no rule. */
export const match = <Rule>(
  candidates: ReadonlyArray<Candidate<Rule>>,
  account: string,
  { host, method, path }: Target
): Either.Either<Candidate<Rule>, string> => {
  const parts: ReadonlyArray<readonly [part: string, fits: (terms: UseTerms) => boolean]> = [
    [`account ${account}`, ({ accounts }) => accounts.includes(account)],
    [`host ${host}`, ({ hosts }) => hosts.includes(host)],
    [`method ${method}`, ({ methods }) => methods.includes(method)],
    [`path ${path}`, ({ paths }) => fitsPaths(paths, path)]
  ]
  let left = candidates
  for (const [part, fits] of parts) {
    left = left.filter(({ terms }) => fits(terms))
    if (left.length === 0) return Either.left(part)
  }
  const [first] = left
  return first === undefined ? Either.left(`account ${account}`) : Either.right(first)
}
