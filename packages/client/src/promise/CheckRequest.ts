/** Finds what a program without types gets wrong in a call, before anything is sent. No sentence has a value. */
import { editDistance, nearestBy } from "@coffer/domain/base/Nearest"
import * as Predicate from "effect/Predicate"
import { InvalidRequest } from "../internal/ClientErrors.js"

interface Names {
  readonly all: ReadonlyArray<string>
  readonly required: ReadonlyArray<string>
}

/** A call as the list of routes has it. */
export interface Route {
  readonly method: string
  readonly template: string
  readonly path: Names
  readonly urlParams: Names
  /** Undefined if it takes none. */
  readonly payload: Names | undefined
}

const namesOf = (text: string): Names => {
  const names = text.split(",").filter((name) => name !== "")
  return {
    all: names.map((name) => name.replace("!", "")),
    required: names.filter((name) => name.endsWith("!")).map((name) => name.slice(0, -1))
  }
}

export const routeOf = (text: string): Route => {
  const [method = "GET", template = "", query = "", payload] = text.split(" ")
  const path = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)
  return {
    method,
    template,
    path: { all: path, required: path },
    urlParams: namesOf(query),
    payload: payload === undefined ? undefined : namesOf(payload)
  }
}

const meant = (name: string, names: ReadonlyArray<string>): string => {
  const found = nearestBy(names, (each) => {
    const distance = editDistance(name, each)
    return distance <= 2 && distance < each.length / 2 ? distance : Infinity
  })
  return found === undefined ? `it is one of ${names.join(", ")}` : `did you mean ${found}?`
}

const invalid = (field: string, reason: string) => new InvalidRequest({ field, reason })

/** The problem with a name of a group or call. */
export const unknownName = (kind: string, name: string, names: ReadonlyArray<string>): InvalidRequest =>
  invalid(name, `there is no such ${kind}; ${meant(name, names)}`)

/** JavaScript's own values of a query. */
const isScalar = (value: unknown): boolean =>
  value === undefined || Predicate.isString(value) || Predicate.isNumber(value) || Predicate.isBoolean(value)

const anyName = "*"

const problemIn = (
  part: string,
  given: unknown,
  { all, required }: Names,
  check: (value: unknown) => string | undefined
): InvalidRequest | undefined => {
  if (!Predicate.isRecord(given)) return invalid(part, "must be an object")
  const names = Object.keys(given)
  const stray = all.includes(anyName) ? undefined : names.find((name) => !all.includes(name))
  if (stray !== undefined) {
    return invalid(
      `${part}.${stray}`,
      all.length === 0 ? "this call takes none" : `there is no such name; ${meant(stray, all)}`
    )
  }
  const missing = required.find((name) => given[name] === undefined)
  if (missing !== undefined) return invalid(`${part}.${missing}`, "is missing")
  for (const name of names) {
    const problem = check(given[name])
    if (problem !== undefined) return invalid(`${part}.${name}`, problem)
  }
  return undefined
}

const parts = ["path", "urlParams", "payload"]

/** The problem with the argument of a call; undefined if it can be sent. */
export const problemOf = (route: Route, given: unknown): InvalidRequest | undefined => {
  if (!Predicate.isRecord(given)) return invalid("request", "must be an object with path, urlParams or payload")
  const stray = Object.keys(given).find((name) => !parts.includes(name))
  if (stray !== undefined) return invalid(stray, `there is no such part of a call; ${meant(stray, parts)}`)
  const { path = {}, payload, urlParams = {} } = given
  return (
    pathProblem(path, route.path) ??
    problemIn("urlParams", urlParams, route.urlParams, (value) =>
      isScalar(value) ? undefined : "must be a text, a number or a boolean"
    ) ??
    payloadProblem(payload, route.payload)
  )
}

/** A path may have more names: programs keep one of an environment for the calls of its project too. */
const pathProblem = (path: unknown, { all }: Names): InvalidRequest | undefined => {
  if (!Predicate.isRecord(path)) return invalid("path", "must be an object")
  const wrong = all.find((name) => !Predicate.isString(path[name]))
  if (wrong === undefined) return undefined
  return invalid(
    `path.${wrong}`,
    path[wrong] === undefined ? `is missing; this call takes ${all.join(", ")}` : "must be a text"
  )
}

const payloadProblem = (payload: unknown, names: Names | undefined): InvalidRequest | undefined => {
  if (names === undefined) return payload === undefined ? undefined : invalid("payload", "this call takes none")
  return payload === undefined
    ? invalid("payload", "is missing")
    : problemIn("payload", payload, names, () => undefined)
}
