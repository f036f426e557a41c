import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { exitCodes, WrongUsage } from "../../base/Failures.js"
import { syntaxOf } from "../../grammar/Specs.js"
import { valuesOf } from "../../grammar/Values.js"
import { countProblem, readWords } from "../../grammar/Words.js"
import { ended, runProgram } from "../../program/Program.js"
import { descriptors } from "../../terminal/Output.js"
import { renderSpecs } from "./RenderOptions.js"
import { runRender } from "./RunRender.js"

const syntax = syntaxOf(Object.values(renderSpecs))

/**
 * Runs `coffer render`.
 *
 * @param argv the arguments after `render`
 * @returns whether the command line is one that starts here: the full client describes the others, and shows the help
 */
export const start = (argv: ReadonlyArray<string>, version: string): boolean => {
  const words = readWords(syntax, argv)
  if (words.type !== "words" || countProblem(syntax, words, "") !== undefined) return false
  const options = Either.mapLeft(valuesOf(renderSpecs, words), (message) => new WrongUsage({ message }))
  const command = Effect.flatMap(options, runRender)
  runProgram(ended(Effect.as(command, exitCodes.done)), version, descriptors)
  return true
}
