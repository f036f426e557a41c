import type { EnvName } from "@coffer/domain/base/Names"
import {
  maxReferenceDepth,
  parseReference,
  type ReferencePart,
  targetsOf,
  targetText
} from "@coffer/domain/secrets/Reference"
import { byteLength, maxSecretValueBytes } from "@coffer/domain/secrets/SecretValueForm"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Value } from "../../keys/Envelope.js"
import { folding, type Node } from "./Graph.js"

/** A visited secret: its value, with its parts if it is a reference, or why it cannot be resolved. */
export type Step =
  { readonly value: Value; readonly parts: ReadonlyArray<ReferencePart> | null } | { readonly why: string }

interface Filled {
  readonly text: string
  readonly depth: number
}

/** How many bytes all values of one response may have together. */
const maxResolvedBytes = 8 * 1024 * 1024

/** How many bytes one response may load for its references, and how many it may make of them on the way to its values. */
export const maxPassedBytes = 4 * maxResolvedBytes

export const tooMuch = "does not fit: the references of one answer pass at most 32 MiB of values"
const tooLong = "is longer than 64 KB with the values that it refers to"
const tooDeep = `passes more than ${maxReferenceDepth} references, one after another`

export const partsOf = (text: Value): ReadonlyArray<ReferencePart> =>
  Either.getOrElse(parseReference(Redacted.value(text)), () => [])

/** The secrets that a reference in an environment names. */
export const nodesOf = (env: EnvName, parts: ReadonlyArray<ReferencePart> | null): ReadonlyArray<Node> =>
  parts === null ? [] : targetsOf(parts).map(({ env: other, key }) => ({ env: other ?? env, key }))

/** Returns the function that makes values of an environment from the secrets that references lead to. */
export const filling = (here: EnvName, stepOf: (node: Node) => Step | undefined) => {
  let [filled, bytes] = [0, 0]
  const nameOf = ({ env, key }: Node): string => targetText({ env: env === here ? null : env, key })

  const fill = (
    env: EnvName,
    parts: ReadonlyArray<ReferencePart>,
    of: (node: Node) => Either.Either<Filled, string>
  ): Either.Either<Filled, string> => {
    if (filled > maxPassedBytes) return Either.left(tooMuch)
    let [text, depth] = ["", 0]
    for (const part of parts) {
      if (typeof part === "string") {
        text += part
        continue
      }
      const node = { env: part.env ?? env, key: part.key }
      const value = of(node)
      if (Either.isLeft(value)) return Either.left(`refers to ${nameOf(node)}, ${value.left}`)
      depth = Math.max(depth, 1 + value.right.depth)
      text += value.right.text
      filled += value.right.text.length
      // Checked with each part, so that no text grows far beyond the limit.
      if (text.length > maxSecretValueBytes) return Either.left(tooLong)
    }
    if (depth > maxReferenceDepth) return Either.left(tooDeep)
    return byteLength(text) > maxSecretValueBytes ? Either.left(tooLong) : Either.right({ text, depth })
  }

  const make = folding<Filled, string>(
    (node, of) => {
      const step = stepOf(node)
      if (step === undefined) return Either.left(`which ${tooDeep}`)
      if ("why" in step) return Either.left(step.why)
      return step.parts === null
        ? Either.right({ text: Redacted.value(step.value), depth: 0 })
        : Either.mapLeft(fill(node.env, step.parts, of), (why) => `which ${why}`)
    },
    ({ wrong }) => (wrong === "cycle" ? "which refers to itself" : `which ${tooDeep}`)
  )

  /** The value of a secret of the environment with these parts. On the left, a clause says why it has none, by keys and places. */
  return (source: Node, parts: ReadonlyArray<ReferencePart>): Either.Either<Value, string> =>
    Either.flatMap(
      fill(here, parts, (node) => make(node, [source])),
      ({ text }) => {
        bytes += byteLength(text)
        return bytes > maxResolvedBytes
          ? Either.left("does not fit: the values of one answer have at most 8 MiB together")
          : Either.right(Redacted.make(SecretValue.make(text)))
      }
    )
}
