/** A pattern may match what is made later. One that matches nothing now is more often a typing mistake, so it is noted. */
import type { Exchange } from "@coffer/client/internal/Exchange"
import { placeList, readNames } from "@coffer/client/internal/NameList"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import * as Effect from "effect/Effect"
import { nearest } from "../../grammar/Words.js"
import type { Output } from "../../terminal/Output.js"
import { note } from "../../terminal/Print.js"

/** The patterns of projects and environments, as a rule, a webhook or a question has them. */
export interface PlacePatterns {
  /** Undefined for every project. */
  readonly project: string | undefined
  readonly env: string
}

/** The environments of at most this many projects are read. */
const maxProjects = 20

/** The name that was probably meant: only a pattern without wildcards is a mistyped name. */
const meantBy = (pattern: string, names: ReadonlyArray<string>): string => {
  const meant = /[*?{]/.test(pattern) ? undefined : nearest(names, pattern)
  return meant === undefined ? "" : `; did you mean ${meant}?`
}

const isMatchedBy = (pattern: string) => (name: string) => matcherOf(name)(pattern)

/** Says which patterns match nothing that the caller sees; undefined if they match something. */
const unmatched = Effect.fnUntraced(function* (exchange: Exchange, org: string, { env, project }: PlacePatterns) {
  const projects = yield* readNames(exchange, placeList([org]))
  const inside = project === undefined ? projects : projects.filter(isMatchedBy(project))
  if (projects.length === 0) return undefined
  if (inside.length === 0) {
    const pattern = project ?? ""
    return `${pattern} matches no project of ${org} now${meantBy(pattern, projects)}`
  }
  // The others may have an environment that matches.
  if (inside.length > maxProjects) return undefined
  const lists = yield* Effect.forEach(inside, (name) => readNames(exchange, placeList([org, name])), { concurrency: 4 })
  const envs = [...new Set(lists.flat())]
  if (envs.some(isMatchedBy(env))) return undefined
  const where =
    inside.length === 1 ? `project ${inside.join("")}` : `a project of ${org} that ${project ?? "*"} matches`
  return `${env} matches no environment of ${where} now${meantBy(env, envs)}`
})

/** Notes the patterns that match nothing. A caller who cannot list the names gets no note. */
export const noteUnmatched = (
  exchange: Exchange,
  org: string,
  patterns: ReadonlyArray<PlacePatterns>
): Effect.Effect<void, never, Output> =>
  Effect.forEach(
    patterns,
    (each) =>
      unmatched(exchange, org, each).pipe(
        Effect.timeout("5 seconds"),
        Effect.orElseSucceed(() => undefined),
        Effect.flatMap((sentence) => (sentence === undefined ? Effect.void : note(sentence)))
      ),
    { discard: true }
  )

/** The patterns of a webhook: `prod`, or `webshop/prod`. */
export const placePatternsOf = (text: string): PlacePatterns => {
  const [first = "", second] = text.split("/")
  return second === undefined ? { project: undefined, env: first } : { project: first, env: second }
}
