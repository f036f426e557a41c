import * as Either from "effect/Either"
import { envNameForm, secretKeyForm } from "../base/NameForms.js"
import type { EnvName, SecretKey } from "../base/Names.js"

/** A secret that a reference names; `env` is null for the environment in which the reference stands. */
export interface ReferenceTarget {
  readonly env: EnvName | null
  readonly key: SecretKey
}

/** The text of a reference: literal text, and the secrets whose values stand between. */
export type ReferencePart = string | ReferenceTarget

/** How many secrets one reference may name, each counted as often as it is named. */
export const maxReferences = 32

/** How many references may follow one another on the way to a value. */
export const maxReferenceDepth = 5

/** Reads `KEY` or `env:KEY`; null for anything else. */
export const targetOf = (name: string): ReferenceTarget | null => {
  const colon = name.indexOf(":")
  const key = name.slice(colon + 1)
  if (!secretKeyForm.is(key)) return null
  if (colon < 0) return { env: null, key }
  const env = name.slice(0, colon)
  return envNameForm.is(env) ? { env, key } : null
}

/**
 * Parses the text of a reference: `${KEY}`, `${env:KEY}`, and `$${` for a literal `${`. Every other character stands for itself.
 * On the left, a sentence says where the text is wrong, and repeats nothing of it.
 */
export const parseReference = (text: string): Either.Either<ReadonlyArray<ReferencePart>, string> => {
  const parts: Array<ReferencePart> = []
  let literal = ""
  for (let at = 0; at < text.length;) {
    if (text.startsWith("$${", at)) {
      literal += "${"
      at += 3
    } else if (text.startsWith("${", at)) {
      const end = text.indexOf("}", at)
      const target = end < 0 ? null : targetOf(text.slice(at + 2, end))
      if (target === null) {
        return Either.left(
          `the reference at character ${at + 1} is neither \${KEY} nor \${environment:KEY}; write $\${ for the characters \${`
        )
      }
      if (literal !== "") parts.push(literal)
      literal = ""
      parts.push(target)
      at = end + 1
    } else {
      const next = text.indexOf("$", at + 1)
      const end = next < 0 ? text.length : next
      literal += text.slice(at, end)
      at = end
    }
  }
  if (literal !== "") parts.push(literal)
  return Either.right(parts)
}

/** The secrets that a parsed text names, in its order. */
export const targetsOf = (parts: ReadonlyArray<ReferencePart>): ReadonlyArray<ReferenceTarget> =>
  parts.filter((part) => typeof part !== "string")

/** How a message names the target of a reference: as the text does. */
export const targetText = ({ env, key }: ReferenceTarget): string => (env === null ? key : `${env}:${key}`)
