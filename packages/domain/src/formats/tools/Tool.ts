import type { Places } from "./Places.js"
import type { ToolName } from "./ToolNames.js"
import type { Tree } from "./Tree.js"

export type Syntax = "json" | "yaml" | "env"

/** How a person wants documents to be read. */
export interface ReadOptions {
  /** Make a key of each member of a value that is an object, or a text of one. */
  readonly split: boolean
  /** What stands between the names of nested keys. */
  readonly separator: string
  /** Keep binary values as base64 text. */
  readonly base64: boolean
}

export const readDefaults: ReadOptions = { split: false, separator: "__", base64: false }

/** What a text in braces refers to, by the tool's names. */
export interface ToolTarget {
  readonly project?: string
  readonly env?: string
  readonly key: string
}

/** A tool as data, with its reader. */
export interface Tool {
  readonly name: ToolName
  /** The command that prints what is read, for people. */
  readonly prints: string
  readonly syntaxes: ReadonlyArray<Syntax>
  /** Reads one document. Returns whether it has the tool's form. */
  readonly read: (tree: Tree, places: Places, options: ReadOptions) => boolean
  /** What `${…}` means in a value: the text between the braces as a target. Undefined where nothing is replaced. */
  readonly targetOf?: (text: string) => ToolTarget | undefined
  /** Keys that the tool writes about itself, and what they are. */
  readonly own?: readonly [pattern: RegExp, what: string]
  /** What to do where it keeps only names in what was given. */
  readonly namesOnly?: (tree: Tree) => string | undefined
}
