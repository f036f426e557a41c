import * as Array from "effect/Array"
import * as Either from "effect/Either"
import { type ReferenceTarget, targetOf, targetText } from "../secrets/Reference.js"
import { applyFilter, filterNames, type FilterName, isFilterName } from "./Filters.js"
import type { Mistake } from "./Format.js"
import { Scanner } from "./Scanner.js"

/** The place of a value; `env` is null for the environment that the template is rendered for. */
export interface Placeholder extends ReferenceTarget {
  readonly filter: FilterName | null
}

/** Literal text, and the values that stand between. */
export type TemplatePart = string | Placeholder

/** Room for an environment, a key, a filter and spaces. */
const maxPlaceholder = 250

/** A reader stops after this many mistakes. */
const maxMistakes = 100

const trim = (text: string) => text.replace(/^[ \t]+|[ \t]+$/g, "")

/** The delimiters of a placeholder: each is a character twice. */
export interface Delimiters {
  readonly open: string
  readonly close: string
}

const braces: Delimiters = { open: "{{", close: "}}" }

const doubled = /^([^\w\s,])\1$/

/** Parses delimiters such as `[[,]]`. Undefined unless each is a punctuation mark twice. */
export const parseDelimiters = (text: string): Delimiters | undefined => {
  const [open = "", close = "", ...more] = text.split(",")
  return more.length === 0 && doubled.test(open) && doubled.test(close) ? { open, close } : undefined
}

/** Reads what stands between the braces. Fails with what is wrong, without a text that may be no name of a secret. */
const parsePlaceholder = (inner: string, { close, open }: Delimiters): Either.Either<Placeholder, string> => {
  const [name = "", filter, ...more] = inner.split("|").map(trim)
  const target = targetOf(name)
  if (target === null) {
    return Either.left(
      `${open} begins neither ${open}KEY${close}, ${open}environment:KEY${close} nor ${open}KEY | filter${close}; write ${open}${open} for the characters ${open}, or choose others with --delimiters`
    )
  }
  if (more.length > 0) return Either.left(`${targetText(target)} has more than one filter`)
  if (filter === undefined) return Either.right({ ...target, filter: null })
  return isFilterName(filter)
    ? Either.right({ ...target, filter })
    : Either.left(`${targetText(target)} has no filter that exists: the filters are ${filterNames.join(", ")}`)
}

/**
 * Parses a template. Every character outside of `{{…}}` stands for itself, and `{{{{` for `{{`. Of three braces, the first is a
 * literal one. Other delimiters follow the same rules.
 */
export const parseTemplate = (
  text: string,
  delimiters: Delimiters = braces
): Either.Either<ReadonlyArray<TemplatePart>, Array.NonEmptyReadonlyArray<Mistake>> => {
  const { close, open } = delimiters
  const mark = open.charAt(0)
  const lines = new Scanner(text)
  const parts: Array<TemplatePart> = []
  const mistakes: Array<Mistake> = []
  let literal = ""
  let at = 0
  while (mistakes.length < maxMistakes) {
    const begin = text.indexOf(open, at)
    literal += text.slice(at, begin < 0 ? undefined : begin)
    if (begin < 0) break
    for (at = begin; text[at] === mark; at++);
    const rest = (at - begin) % 4
    literal += mark.repeat((at - begin - rest) / 2 + (rest < 2 ? rest : rest - 2))
    if (rest < 2) continue
    const window = text.slice(at, at + maxPlaceholder)
    const end = window.indexOf(close)
    const placeholder = parsePlaceholder(end < 0 ? "" : window.slice(0, end), delimiters)
    if (Either.isLeft(placeholder)) {
      mistakes.push({ line: lines.lineAt(begin), problem: placeholder.left })
      continue
    }
    if (literal !== "") parts.push(literal)
    literal = ""
    parts.push(placeholder.right)
    at += end + 2
  }
  if (literal !== "") parts.push(literal)
  return Array.isNonEmptyReadonlyArray(mistakes) ? Either.left(mistakes) : Either.right(parts)
}

/** A part of the output. Literal text has the encoding of the template, values have UTF-8. */
export interface FilledPart {
  readonly type: "literal" | "value"
  readonly text: string
}

/** Why a template cannot be filled. */
export interface Unfilled {
  /** The secrets that do not exist. */
  readonly missing: ReadonlyArray<ReferenceTarget>
  /** The secrets whose values a filter cannot write, as sentences. */
  readonly refused: ReadonlyArray<string>
}

/** Puts the values into a template. What a value contains is never expanded. */
export const fillTemplate = (
  parts: ReadonlyArray<TemplatePart>,
  valueOf: (target: ReferenceTarget) => string | undefined
): Either.Either<ReadonlyArray<FilledPart>, Unfilled> => {
  const missing = new Map<string, ReferenceTarget>()
  const refused = new Set<string>()
  const filled: Array<FilledPart> = []
  for (const part of parts) {
    if (typeof part === "string") {
      filled.push({ type: "literal", text: part })
      continue
    }
    const value = valueOf(part)
    if (value === undefined) {
      missing.set(targetText(part), part)
      continue
    }
    Either.match(applyFilter(part.filter, value), {
      onLeft: (why) => refused.add(`${targetText(part)} ${why} (filter ${part.filter ?? ""})`),
      onRight: (text) => filled.push({ type: "value", text })
    })
  }
  return missing.size + refused.size === 0
    ? Either.right(filled)
    : Either.left({ missing: [...missing.values()], refused: [...refused] })
}
