/** `coffer import FILE` is `coffer secret import FILE`: the name of a tool has neither a dot nor a slash. */
import { toolNames } from "@coffer/domain/formats/tools/ToolNames"
import * as Effect from "effect/Effect"
import { WrongUsage } from "../../base/Failures.js"
import type { Leaf } from "../../grammar/Command.js"
import { choiceProblem, type Words } from "../../grammar/Words.js"
import { importSecrets } from "../secrets/SecretImport.js"

const isFile = (text: string): boolean => text === "-" || /[./]/.test(text)

const isTool = (text: string): boolean => toolNames.some((name) => name === text)

const toolOrFile = {
  kind: "argument",
  name: "TOOL|FILE",
  description: "The tool; or a file of yours, such as .env or secrets.json",
  choices: toolNames,
  least: 1,
  most: 1,
  check: (text: string) => (isTool(text) || isFile(text) ? undefined : choiceProblem("TOOL", toolNames, text))
} as const

/** The problem with words that are of the other kind of import. */
const strayProblem = (words: Words, leaf: Leaf, what: string): string | undefined => {
  const own = new Set(leaf.options.map(({ name }) => name))
  const stray = [...words.options.keys()].find((name) => !own.has(name))
  if (stray !== undefined) return `--${stray} is not for the import ${what}`
  const most = leaf.arguments.reduce((sum, argument) => sum + argument.most, 0)
  return words.arguments.length > most ? `the import ${what} takes no further argument` : undefined
}

/** A command that imports from tools, which takes files too. */
export const orFile = (fromTool: Leaf, examples: ReadonlyArray<string>): Leaf => {
  const own = new Set(fromTool.options.map(({ name }) => name))
  const run = (words: Words) => {
    const isOfFile = isFile(words.arguments[0]?.text ?? "")
    const leaf = isOfFile ? importSecrets : fromTool
    const problem = strayProblem(words, leaf, isOfFile ? "of a file" : "from a tool")
    return problem === undefined ? leaf.run(words) : Effect.fail(new WrongUsage({ message: problem }))
  }
  return {
    ...fromTool,
    examples: [...examples, ...fromTool.examples],
    arguments: [toolOrFile, ...fromTool.arguments.slice(1)],
    options: [...fromTool.options, ...importSecrets.options.filter(({ name }) => !own.has(name))],
    run
  }
}
