import * as Redacted from "effect/Redacted"
import { maxKeys } from "../../secrets/SecretValues.js"
import type { Mistake } from "../Format.js"

/** Where a tool keeps secrets, by its own names. */
export interface PlaceName {
  readonly project?: string | undefined
  readonly env?: string | undefined
}

/** A key of a document, with its value. */
export interface FoundKey {
  readonly key: string
  /** Where it stands: keys and folders of the tool, such as `/db/PASSWORD`. The same as the key where there is nothing else. */
  readonly path: string
  readonly line: number
  readonly value: Redacted.Redacted
  /** The value as the tool resolves it, where `value` is a text with references. */
  readonly resolved?: Redacted.Redacted
  /** Why it cannot be stored, as the end of a sentence "KEY …". */
  readonly problem?: string
  /** Why it is not to be stored, in the same form: the tool keeps it for itself. */
  readonly own?: string
  /** Notes for a person on unexpected readings of the value, in the same form. */
  readonly notes?: ReadonlyArray<string>
}

/** The keys of a document at a place. */
export interface FoundPlace extends PlaceName {
  readonly keys: ReadonlyArray<FoundKey>
}

/** A key before its value is hidden. */
export interface PlainKey {
  readonly key: string
  readonly path?: string
  readonly line: number
  readonly value?: string
  readonly resolved?: string
  readonly problem?: string
  readonly own?: string
  readonly notes?: ReadonlyArray<string> | undefined
}

/** A document that holds more is not an export of secrets. */
const maxFound = 25 * maxKeys

/** The keys that a reader finds, by place. */
export class Places {
  private readonly found = new Map<string, PlaceName & { readonly keys: Array<FoundKey> }>()
  private count = 0
  private mistake: Mistake | undefined

  /** The mistake that made the document unreadable. */
  get stopped(): Mistake | undefined {
    return this.mistake
  }

  /** Makes the document unreadable. The first call decides. */
  stop(line: number, problem: string): void {
    this.mistake ??= { line, problem }
  }

  add(place: PlaceName, { notes = [], path, resolved, value = "", ...plain }: PlainKey): void {
    if (++this.count > maxFound)
      return this.stop(plain.line, `the document holds more than ${maxFound} secrets: split it`)
    this.keysOf(place).push({
      ...plain,
      path: path ?? plain.key,
      value: Redacted.make(value),
      ...(resolved === undefined ? {} : { resolved: Redacted.make(resolved) }),
      ...(notes.length === 0 ? {} : { notes })
    })
  }

  /** Lists a place, which may stay empty. */
  keysOf({ env, project }: PlaceName): Array<FoundKey> {
    const id = JSON.stringify([project, env])
    const found = this.found.get(id) ?? { project, env, keys: [] }
    this.found.set(id, found)
    return found.keys
  }

  get all(): ReadonlyArray<FoundPlace> {
    return [...this.found.values()]
  }
}
