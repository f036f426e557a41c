/** A pattern may match what is made later. One that matches nothing now is more often a typing mistake, so it is noted. */
import type { Exchange } from "@coffer/client/internal/Exchange"
import { placeList, readNames } from "@coffer/client/internal/NameList"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import * as Effect from "effect/Effect"
import { NotThere } from "../../base/Failures.js"
import { nearest } from "../../grammar/Words.js"
import type { Output } from "../../terminal/Output.js"
import { note } from "../../terminal/Print.js"
import { canAsk, confirm } from "../../terminal/Prompts.js"

/** The patterns of projects and environments, as a rule, a webhook or a question has them. */
export interface PlacePatterns {
  /** Undefined for every project. */
  readonly project: string | undefined
  readonly env: string
}

/** The environments of at most this many projects are read. */
const maxProjects = 20

/** Patterns that match nothing. */
interface Unmatched {
  readonly sentence: string
  /** The name that was probably meant. */
  readonly meant: string | undefined
}

/** Only a pattern without wildcards is a mistyped name. */
const unmatchedBy = (sentence: string, pattern: string, names: ReadonlyArray<string>): Unmatched => {
  const meant = /[*?{]/.test(pattern) ? undefined : nearest(names, pattern)
  return { sentence: meant === undefined ? sentence : `${sentence}; did you mean ${meant}?`, meant }
}

const isMatchedBy = (pattern: string) => (name: string) => matcherOf(name)(pattern)

/** Finds the patterns that match nothing that the caller sees; undefined if they match something. */
const findUnmatched = Effect.fnUntraced(function* (exchange: Exchange, org: string, { env, project }: PlacePatterns) {
  const projects = yield* readNames(exchange, placeList([org]))
  const inside = project === undefined ? projects : projects.filter(isMatchedBy(project))
  if (projects.length === 0) return undefined
  if (inside.length === 0) {
    const pattern = project ?? ""
    return unmatchedBy(`${pattern} matches no project of ${org} now`, pattern, projects)
  }
  // The others may have an environment that matches.
  if (inside.length > maxProjects) return undefined
  const lists = yield* Effect.forEach(inside, (name) => readNames(exchange, placeList([org, name])), { concurrency: 4 })
  const envs = [...new Set(lists.flat())]
  if (envs.some(isMatchedBy(env))) return undefined
  const where =
    inside.length === 1 ? `project ${inside.join("")}` : `a project of ${org} that ${project ?? "*"} matches`
  return unmatchedBy(`${env} matches no environment of ${where} now`, env, envs)
})

/** The same. A caller who cannot list the names gets undefined. */
const unmatched = (exchange: Exchange, org: string, patterns: PlacePatterns) =>
  findUnmatched(exchange, org, patterns).pipe(
    Effect.timeout("5 seconds"),
    Effect.orElseSucceed(() => undefined)
  )

/** Notes the patterns that match nothing. A caller who cannot list the names gets no note. */
export const noteUnmatched = (
  exchange: Exchange,
  org: string,
  patterns: ReadonlyArray<PlacePatterns>
): Effect.Effect<void, never, Output> =>
  Effect.forEach(
    patterns,
    (each) =>
      Effect.flatMap(unmatched(exchange, org, each), (found) =>
        found === undefined ? Effect.void : note(found.sentence)
      ),
    { discard: true }
  )

/**
 * Notes patterns that match nothing, and asks before `deed` is done for a name that is probably mistyped. Without a
 * terminal, such a name fails unless `yes` is set.
 */
export const settleUnmatched = Effect.fnUntraced(function* (
  exchange: Exchange,
  org: string,
  patterns: PlacePatterns,
  deed: string,
  yes: boolean
) {
  const found = yield* unmatched(exchange, org, patterns)
  if (found === undefined) return
  if (found.meant === undefined || yes) return yield* note(found.sentence)
  if (yield* canAsk) return yield* confirm(`${found.sentence} ${deed} nevertheless?`, false)
  return yield* new NotThere({ message: `${found.sentence} If the name is to come, add --yes` })
})

/** The patterns of a webhook: `prod`, or `webshop/prod`. */
export const placePatternsOf = (text: string): PlacePatterns => {
  const [first = "", second] = text.split("/")
  return second === undefined ? { project: undefined, env: first } : { project: first, env: second }
}
