import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { sentenceOf } from "../../errors/BrokenRules.js"
import { SecretKey } from "../../base/Names.js"
import type { ReferenceTarget } from "../../secrets/Reference.js"
import { RedactedSecretValue } from "../../secrets/SecretValues.js"
import type { TargetedPlace, ImportTarget } from "./ImportTarget.js"
import type { FoundKey, FoundPlace } from "./Places.js"
import type { Tool, ToolTarget } from "./Tool.js"
import { translate } from "./Translation.js"

/** The plan for a key: it is written as a value or a reference, cannot be stored, or is the tool's own and left. */
export type PlannedState = "value" | "reference" | "unsupported" | "left"

export interface PlannedKey {
  readonly key: string
  /** Where it stands in the document. */
  readonly path: string
  readonly line: number
  readonly state: PlannedState
  /** Why it is not written, as the end of a sentence "KEY …". */
  readonly why?: string
  /** The tool's references that are not translated, as it writes them. */
  readonly references: ReadonlyArray<string>
  /** The form that is stored if some are not translated: their text, or the value that the tool resolved. */
  readonly stored?: "text" | "resolved"
  /** Notes for a person on unexpected readings of the value, as the ends of sentences "KEY …". */
  readonly notes: ReadonlyArray<string>
}

/** A key that is written. */
export interface Kept {
  readonly key: SecretKey
  readonly value: typeof RedactedSecretValue.Type
  readonly isReference: boolean
  readonly targets: ReadonlyArray<ReferenceTarget>
}

export interface Judged {
  readonly planned: PlannedKey
  readonly kept?: Kept
}

const decodeKey = Schema.decodeUnknownEither(SecretKey)
const decodeValue = Schema.decodeUnknownEither(RedactedSecretValue)

type Refusal = Pick<PlannedKey, "state" | "why">

const unsupported = (why: string): Refusal => ({ state: "unsupported", why })

/** How a person gives a key another name. */
export const renaming = (path: string): string => `rename it with --map-key ${JSON.stringify(`${path}=NAME`)}`

/** The name that a key gets. */
export const nameOfKey = ({ key, path }: FoundKey, { keys }: ImportTarget): string =>
  keys.get(path) ?? keys.get(key) ?? key

/** Checks a key. Returns its name and value, or why it is not written. */
const check = (found: FoundKey, name: string, { own: [pattern, what] = [/^$/, ""] }: Tool) => {
  const { key, path, problem, value } = found
  const own = found.own ?? (pattern.test(key) ? what : undefined)
  if (own !== undefined) return Either.left<Refusal>({ state: "left", why: `is ${own}` })
  return Either.gen(function* () {
    const decoded = yield* Either.mapLeft(decodeKey(name), (error) =>
      unsupported(`has a name that cannot be stored: ${sentenceOf(error, "it is not a key")}; ${renaming(path)}`)
    )
    if (problem !== undefined) return yield* Either.left(unsupported(problem))
    const text = yield* Either.mapLeft(decodeValue(Redacted.value(value)), (error) =>
      unsupported(`has a value that cannot be stored: ${sentenceOf(error, "it is not a text")}`)
    )
    return { key: decoded, value: text }
  })
}

/** Finds the imported secrets that references name: those of other projects, and those that are not imported, are none. */
export const finderOf = (aimed: ReadonlyArray<TargetedPlace>, tool: Tool, target: ImportTarget) => {
  const known = new Map<FoundPlace, ReadonlyMap<string, SecretKey>>(
    aimed.map(({ place }) => [
      place,
      new Map(
        place.keys.flatMap((found) => {
          const checked = check(found, nameOfKey(found, target), tool)
          return Either.isRight(checked) ? [[found.key, checked.right.key]] : []
        })
      )
    ])
  )
  return (from: TargetedPlace, self: string) =>
    ({ env, key, project = from.place.project }: ToolTarget): ReferenceTarget | undefined => {
      // A document without names is of one place, which its own references name.
      const isNamed = ({ env: own, place }: TargetedPlace) =>
        place.env === undefined ? env !== undefined && (target.envs.get(env) ?? env) === own : place.env === env
      const to = env === undefined ? from : aimed.find((each) => each.place.project === project && isNamed(each))
      const name = to === undefined ? undefined : known.get(to.place)?.get(key)
      if (to === undefined || name === undefined || to.project !== from.project) return undefined
      if (to.env !== from.env) return { env: to.env, key: name }
      return name === self ? undefined : { env: null, key: name }
    }
}

/** Decides what becomes of a key. */
export const judge = (
  found: FoundKey,
  name: string,
  tool: Tool,
  find: (target: ToolTarget) => ReferenceTarget | undefined
): Judged => {
  const base = { key: name, path: found.path, line: found.line, references: [], notes: found.notes ?? [] }
  const checked = check(found, name, tool)
  if (Either.isLeft(checked)) return { planned: { ...base, ...checked.left } }
  const { key, value } = checked.right
  const { left, targets, text } =
    tool.targetOf === undefined
      ? { left: [], targets: [], text: undefined }
      : translate(Redacted.value(value), tool.targetOf, find)
  const isResolved = left.length > 0 && found.resolved !== undefined
  const isReference = text !== undefined && !isResolved
  const stored = decodeValue(isReference ? text : Redacted.value(found.resolved ?? value))
  if (Either.isLeft(stored)) {
    const why = sentenceOf(stored.left, "it is not a text")
    return { planned: { ...base, ...unsupported(`has a value that cannot be stored: ${why}`) } }
  }
  return {
    planned: {
      ...base,
      state: isReference ? "reference" : "value",
      references: left,
      ...(left.length === 0 ? {} : { stored: isResolved ? "resolved" : "text" })
    },
    kept: { key, value: stored.right, isReference, targets: isReference ? targets : [] }
  }
}
