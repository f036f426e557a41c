import type { Found, Tree } from "./Tree.js"
import { meant } from "./Tree.js"
import { commandLine, groupUsage } from "./Usage.js"
import { optionName } from "./Words.js"

/** A sentence about a command line, and where to look. */
export const withHint = (sentence: string, path: ReadonlyArray<string>): string =>
  `${sentence}${sentence.endsWith("?") ? "" : ";"} see ${commandLine(path)} --help`

/** Describes the problem with a command line that names no command. */
export const noCommand = (tree: Tree, found: Extract<Found, { readonly type: "missing" | "unknown" }>): string => {
  const { path } = found
  if (found.type === "missing") return `a command is missing: ${groupUsage(path)}`
  const { word } = found
  if (word.startsWith("-")) return withHint(`unknown option ${optionName(word)}`, path)
  const known = meant(tree, path, word)
  const suggestion = known === undefined ? "" : `; did you mean ${known}?`
  return withHint(`unknown command ${word} of ${commandLine(path)}${suggestion}`, path)
}
