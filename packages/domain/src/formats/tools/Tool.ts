import type { EnvDialect } from "./EnvDialects.js"
import type { Places } from "./Places.js"
import type { ToolName } from "./ToolNames.js"
import type { Tree } from "./Tree.js"

export type Syntax = "json" | "yaml" | "env"

/** How a person wants documents to be read. */
export interface ReadOptions {
  /** Make a key of each member of a value that is an object, or a text of one. */
  readonly split: boolean
  /** The separator between the names of nested keys. */
  readonly separator: string
  /** Keep binary values as base64 text. */
  readonly base64: boolean
}

export const readDefaults: ReadOptions = { split: false, separator: "__", base64: false }

/** The target of a text in braces, by the tool's names. */
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
  /** The command that prints JSON, if that is another one. */
  readonly printsJson?: string
  readonly syntaxes: ReadonlyArray<Syntax>
  /** How its `.env` texts are read. As npm's dotenv does, if it is left out. */
  readonly readEnv?: EnvDialect
  /** Notes for a person on unexpected readings of values in its YAML, as the ends of sentences "KEY …". */
  readonly yamlNotes?: (value: string) => ReadonlyArray<string>
  /** Reads one document. Returns whether it has the tool's form. */
  readonly read: (tree: Tree, places: Places, options: ReadOptions) => boolean
  /** Returns the target of the text in `${…}` of a value. Undefined where nothing is replaced. */
  readonly targetOf?: (text: string) => ToolTarget | undefined
  /** Keys that the tool writes about itself, and what they are. */
  readonly own?: readonly [pattern: RegExp, what: string]
  /** Why a document does not hold all values that were asked for, and what to run. */
  readonly incomplete?: (tree: Tree) => string | undefined
}
