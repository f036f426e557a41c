import {
  grantPieces,
  type ProgramName,
  programPieces,
  type ProgramUse,
  serverNeeds,
  signInProblem,
  titleOf
} from "@coffer/domain/guides/Programs"
import * as Effect from "effect/Effect"
import { note, show } from "../../terminal/Print.js"

interface Options {
  readonly program: ProgramName | undefined
  readonly noKey: boolean
  readonly noReveal: boolean
}

/** Returns the problem with the options of an account for a program. */
export const programProblem = ({ noKey, noReveal, program: name }: Options): string | undefined => {
  if (name === undefined) return undefined
  if (noReveal) return `--program ${name} is for an account that reads values, and --no-reveal gives none`
  const problem = signInProblem(name, !noKey)
  if (problem === undefined) return undefined
  return noKey ? `${name} ${problem}, and --no-key makes none` : `${name} ${problem}: add --no-key`
}

/** Returns the steps for a program once its account exists. */
export const stepsFor = (name: ProgramName, use: ProgramUse) => [...grantPieces(use), ...programPieces(name, use)]

/** Shows the lines for a program on standard error: standard output has the key alone. */
export const showSteps = Effect.fnUntraced(function* (name: ProgramName, use: ProgramUse) {
  const needs = serverNeeds(name)
  yield* note(`the lines for ${titleOf(name)}, without the key:`)
  if (needs !== undefined) yield* note(needs)
  for (const { lines, what } of stepsFor(name, use)) {
    yield* note(what)
    yield* show(lines)
  }
})
