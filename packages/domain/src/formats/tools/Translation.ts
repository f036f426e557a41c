import { maxReferences, type ReferencePart, type ReferenceTarget } from "../../secrets/Reference.js"
import { textOfReference } from "../EnvExpansion.js"
import type { ToolTarget } from "./Tool.js"

/** A value whose references became Coffer's. */
export interface Translated {
  /** The text of a reference. Undefined where nothing was translated. */
  readonly text: string | undefined
  /** The secrets that the text refers to. */
  readonly targets: ReadonlyArray<ReferenceTarget>
  /** The references that stay text, as the tool writes them. */
  readonly left: ReadonlyArray<string>
}

const braces = /\$\{([^{}\n]{1,200})\}/g

/** Returns true if a message may show the text: the names of a reference, and not what else a value has in braces. */
const isName = (text: string) => /^\s*[\w-]+(?:(?:\.|::)[\w-]+){0,2}\s*$/.test(text)

/**
 * Translates the references of a value.
 *
 * @param targetOf what the tool takes the text in braces for.
 * @param find the imported secret that a target names.
 */
export const translate = (
  value: string,
  targetOf: (text: string) => ToolTarget | undefined,
  find: (target: ToolTarget) => ReferenceTarget | undefined
): Translated => {
  const parts: Array<ReferencePart> = []
  const targets: Array<ReferenceTarget> = []
  const names: Array<string> = []
  const left: Array<string> = []
  let end = 0
  for (const found of value.matchAll(braces)) {
    const [whole, inner = ""] = found
    const named = targetOf(inner)
    const target = named === undefined ? undefined : find(named)
    parts.push(value.slice(end, found.index), target ?? whole)
    end = found.index + whole.length
    const name = isName(inner) ? whole : "${…}"
    if (target === undefined) left.push(name)
    else {
      names.push(name)
      targets.push(target)
    }
  }
  if (targets.length === 0) return { text: undefined, targets, left }
  const text = targets.length > maxReferences ? undefined : textOfReference([...parts, value.slice(end)])
  return text === undefined ? { text, targets: [], left: [...left, ...names] } : { text, targets, left }
}
