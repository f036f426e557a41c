import type { SecretKey } from "@coffer/domain/base/Names"
import * as Redacted from "effect/Redacted"
import type { SecretMap } from "@coffer/domain/formats/Reading"

/** The changes that a person made to a set of secrets. */
export interface Edit {
  readonly set: SecretMap
  readonly deleted: ReadonlyArray<SecretKey>
}

/** The difference between two states of secrets. */
export const editOf = (before: SecretMap, after: SecretMap): Edit => ({
  set: new Map(
    [...after].filter(([key, value]) => {
      const old = before.get(key)
      return old === undefined || Redacted.value(old) !== Redacted.value(value)
    })
  ),
  deleted: [...before.keys()].filter((key) => !after.has(key))
})

export const isEmpty = ({ deleted, set }: Edit): boolean => set.size === 0 && deleted.length === 0

const keysOf = ({ deleted, set }: Edit): ReadonlyArray<SecretKey> => [...set.keys(), ...deleted]

/** The keys that two edits of one state both change. */
export const overlap = (a: Edit, b: Edit): ReadonlyArray<SecretKey> => {
  const others = new Set(keysOf(b))
  return keysOf(a).filter((key) => others.has(key))
}

/** A state with an edit, except for some of its keys. */
export const applyEdit = (state: SecretMap, { deleted, set }: Edit, except: ReadonlyArray<SecretKey>): SecretMap => {
  const left = new Set(except)
  const gone = new Set(deleted.filter((key) => !left.has(key)))
  return new Map([...[...state].filter(([key]) => !gone.has(key)), ...[...set].filter(([key]) => !left.has(key))])
}
