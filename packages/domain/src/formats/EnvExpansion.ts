import * as Either from "effect/Either"
import { parseReference, type ReferencePart, targetText } from "../secrets/Reference.js"

/** A text of a `.env` file in which variables became references. */
export interface Expanded {
  readonly text: string
  /** Whether a variable was left as it is, because it names no other key of the file or has a default. */
  readonly isPartial: boolean
}

/** `$$`, `${…}` and `$NAME`, as readers of `.env` files that replace variables take them. */
const variable = /\$\$|\$\{([^}]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)/g

const join = (parts: ReadonlyArray<ReferencePart>) => {
  const joined: Array<ReferencePart> = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part
    else if (part !== "") joined.push(part)
  }
  return joined
}

/**
 * The text of a reference with these parts. Undefined where there is no target, or where no text says the same, as with a `$`
 * directly before a target.
 */
export const textOfReference = (parts: ReadonlyArray<ReferencePart>): string | undefined => {
  const wanted = join(parts)
  if (wanted.every((part) => typeof part === "string")) return undefined
  const text = wanted
    .map((part) => (typeof part === "string" ? part.replaceAll("${", "$${") : `\${${targetText(part)}}`))
    .join("")
  const read = Either.getOrElse(parseReference(text), () => [])
  return JSON.stringify(read) === JSON.stringify(wanted) ? text : undefined
}

/**
 * Makes references of the variables that name other keys of the file. Returns nothing where there is none, or where the text
 * of a reference cannot say the same, as with a `$` directly before one.
 */
export const expandVariables = (value: string, isOtherKey: (name: string) => boolean): Expanded | undefined => {
  const parts: Array<ReferencePart> = []
  let isPartial = false
  let end = 0
  for (const found of value.matchAll(variable)) {
    const [whole, braced, plain] = found
    const name = braced ?? plain
    parts.push(value.slice(end, found.index))
    end = found.index + whole.length
    const target =
      name !== undefined && isOtherKey(name) ? Either.getOrUndefined(parseReference(`\${${name}}`)) : undefined
    if (target === undefined) isPartial = true
    parts.push(...(target ?? [whole]))
  }
  parts.push(value.slice(end))
  const text = textOfReference(parts)
  return text === undefined ? undefined : { text, isPartial }
}
