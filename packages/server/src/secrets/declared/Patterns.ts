import { LimitExceeded, ValidationError } from "@coffer/domain/errors/Errors"
import { maxPatternLength } from "@coffer/domain/secrets/DeclaredKey"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { RE2JS } from "re2js"

/**
 * The maximum number of states of a compiled pattern. Matching takes at most this many steps a character, whatever the value, and a
 * repetition such as `{500}` multiplies states.
 */
const maxStates = maxPatternLength + 64

/**
 * The maximum number of states times characters. The largest of both would take a quarter of a second; a long value matches no large
 * pattern.
 */
const maxSteps = 2_000_000

/** Whether a whole value matches. */
export type Matches = (value: string) => boolean

/** Returns the engine's complaint about a pattern, with the place of the mistake if it names a part of the pattern. */
const complaintOf = (pattern: string, error: unknown): string => {
  const said = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "cannot be parsed"
  const [what = said] = said.split(": `")
  const part = Predicate.hasProperty(error, "input") && Predicate.isString(error.input) ? error.input : ""
  const index = part === "" || part === pattern ? -1 : pattern.indexOf(part)
  return index < 0 ? what : `${what}, at character ${index + 1}`
}

/** Compiles a pattern for an engine that takes linear time: RE2 has neither backtracking nor look-around nor back-references. */
export const compilePattern = (pattern: string): Either.Either<Matches, ValidationError> =>
  Either.flatMap(
    Either.try({
      try: () => RE2JS.compile(pattern),
      catch: (error) =>
        new ValidationError({ message: `pattern: is no RE2 regular expression: ${complaintOf(pattern, error)}` })
    }),
    (compiled) =>
      compiled.programSize() > maxStates
        ? Either.left(
            new ValidationError({ message: "pattern: is too large once its repetitions are written out: shorten them" })
          )
        : Either.right((value) => value.length * compiled.programSize() <= maxSteps && compiled.testExact(value))
  )

/** The matcher of a pattern that was accepted once; one that a later engine refuses matches everything. */
const matcherOfStored = (pattern: string): Matches => Either.getOrElse(compilePattern(pattern), () => () => true)

/** How long one request may compile and match patterns, in milliseconds. On SQLite, all other writes wait for it. */
const maxMillis = 2_000

/**
 * Makes the function that returns whether a value matches a stored pattern, for one request. Fails once the request has used its time:
 * an environment has values and patterns enough to keep the server busy for minutes.
 */
export const makeMatching = (millis = maxMillis) => {
  let left = millis
  return (pattern: string, value: string): Effect.Effect<boolean, LimitExceeded> =>
    Effect.suspend(() => {
      if (left <= 0) {
        return new LimitExceeded({
          message:
            "the declared patterns take too long for these values: shorten the patterns, or write fewer secrets at once"
        })
      }
      const begun = performance.now()
      const isMatch = matcherOfStored(pattern)(value)
      left -= performance.now() - begun
      return Effect.succeed(isMatch)
    })
}
