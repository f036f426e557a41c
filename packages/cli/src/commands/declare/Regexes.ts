import { maxPatternLength } from "@coffer/domain/secrets/DeclaredKey"
import { argumentsOf, quote } from "./Decorators.js"

/** The syntax that RE2 does not support: look-around and back-references. */
const unsupported = /\(\?<?[=!]|\\[1-9]|\\k</

const part = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[()]|[^\\[()]+|[\\[]/gs

/** Whether the group that a regular expression begins with ends where the expression does. */
const isOneGroup = (text: string): boolean => {
  let depth = 0
  for (const { 0: found, index } of text.matchAll(part)) {
    if (found === "(") depth++
    if (found === ")") depth--
    if (depth === 0) return index === text.length - 1
  }
  return false
}

const anywhere = "(?s:.*)"

/** The pattern, which is for the whole value, of a regular expression that varlock looks for anywhere in the value. */
const wholeValuePattern = (regex: string): string => {
  const [, inside] = /^\^(\(\?:.*\))\$$/s.exec(regex) ?? []
  if (inside !== undefined && isOneGroup(inside)) return inside.slice(3, -1)
  const isAnchored = regex.startsWith("^") && /(?:^|[^\\])(?:\\\\)*\$$/.test(regex) && !regex.includes("|")
  return isAnchored ? regex : `${anywhere}(?:${regex})${anywhere}`
}

/** The pattern of a regular expression: `regex("…", "i")`, `/…/i` or a text. Undefined for one that no pattern can say. */
export const patternOfRegex = (text: string): string | undefined => {
  const [called, option = ""] = (argumentsOf(text, "regex") ?? []).map(([, argument]) => argument)
  const [, slashed, flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? []
  const regex = called ?? slashed ?? text
  if (unsupported.test(regex)) return undefined
  const own = [...new Set(called === undefined ? flags : option)].filter((flag) => "ims".includes(flag)).join("")
  // With m, `^` and `$` are ends of lines.
  const whole = own.includes("m") ? `${anywhere}(?:${regex})${anywhere}` : wholeValuePattern(regex)
  const pattern = own === "" ? whole : `(?${own})${whole}`
  return pattern.length <= maxPatternLength ? pattern : undefined
}

/** The decorator of a pattern, which reads back to it. One that is no part of a regular expression has a decorator of its own. */
export const patternDecorator = (pattern: string): string => {
  const [, inside] = /^\(\?s:\.\*\)\(\?:(.*)\)\(\?s:\.\*\)$/s.exec(pattern) ?? []
  const regex = [inside, pattern, `^(?:${pattern})$`].find(
    (regex) => regex !== undefined && patternOfRegex(regex) === pattern
  )
  return regex === undefined ? `@pattern=${quote(pattern)}` : `@type=string(matches=${quote(regex)})`
}
