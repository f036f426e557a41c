import { createHash } from "node:crypto"
import type { SecretKey } from "@coffer/domain/base/Names"
import { fitsKeyPatterns } from "@coffer/domain/secrets/KeyPatterns"
import type { TargetChange, TargetTerms } from "@coffer/domain/secrets/Target"
import { isTargetKeyName } from "@coffer/domain/secrets/TargetKinds"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Value } from "../../keys/Envelope.js"
import type { OwnRow } from "./Repo.js"
import type { Listed, TargetKind, Told } from "./TargetKind.js"
import type { Leaving } from "./TargetValues.js"

/** Both sides of a plan. */
export interface Planning {
  readonly kind: TargetKind
  readonly terms: TargetTerms
  /** The keys that authenticate at targets of the environment. */
  readonly credentials: ReadonlySet<string>
  readonly secrets: ReadonlyArray<Leaving>
  readonly listed: Listed
  readonly own: ReadonlyArray<OwnRow>
  readonly takeOver: boolean
  /** The digest of a value at a name of the target. */
  readonly digestOf: (name: string, value: Redacted.Redacted) => string
}

/** A value that a push would write. */
export interface Put {
  readonly key: SecretKey
  readonly version: number
  readonly value: Value
}

/** The changes that a push would make. */
export interface Plan {
  readonly changes: ReadonlyArray<TargetChange>
  readonly put: ReadonlyMap<string, Put>
  readonly remove: ReadonlyArray<string>
}

/** The shortest credential that is searched for in values: a shorter text is in too many of them. */
const leastSearched = 8

const valueOf = ({ value }: Leaving): string | null => (Either.isRight(value) ? Redacted.value(value.right) : null)

/** Whether a platform holds a value already; by its own word, or by that of the last push if it tells no values. */
const isSame = (told: Told, value: Value, digest: string, own: OwnRow | undefined): boolean =>
  told.value === undefined
    ? own?.digest === digest && !wasChanged(told, own)
    : Redacted.value(told.value) === Redacted.value(value)

/** Whether a platform tells that a key was changed after this server wrote it. */
export const wasChanged = ({ stamp }: Told, own: OwnRow): boolean =>
  stamp !== undefined && own.stamp !== null && stamp !== own.stamp

/** Why a secret cannot be pushed; null if it can. */
const refusalOf = (
  { kind, terms }: Planning,
  hidden: ReadonlyArray<string>,
  names: ReadonlyMap<string, number>,
  name: string,
  leaving: Leaving
): string | null => {
  if (Either.isLeft(leaving.value)) return `its reference leads to no value: ${leaving.value.left}`
  const value = Redacted.value(leaving.value.right)
  if ((names.get(name) ?? 0) > 1) return "several keys have this name there"
  if (!isTargetKeyName(name)) return "a name has 1 to 200 letters, digits and _ . / - there"
  if (hidden.some((credential) => value.includes(credential))) return "it contains a credential of a target"
  return kind.refuses(name, value, terms.place)
}

/** Compares the secrets of an environment with a target. */
export const planOf = (planning: Planning): Plan => {
  const { credentials, digestOf, listed, own, secrets, takeOver, terms } = planning
  const owned = new Map(own.map((row) => [row.name, row]))
  const nameOf = (key: string) => terms.rename[key] ?? `${terms.prefix ?? ""}${key}`
  const pushed = secrets.filter(({ key }) => !credentials.has(key) && fitsKeyPatterns(terms.keys, key))
  const hidden = secrets
    .filter(({ key }) => credentials.has(key))
    .flatMap((credential) => valueOf(credential) ?? [])
    .filter(({ length }) => length >= leastSearched)
  const names = new Map<string, number>()
  for (const { key } of pushed) names.set(nameOf(key), (names.get(nameOf(key)) ?? 0) + 1)

  const put = new Map<string, Put>()
  const changes = new Map<string, TargetChange>()
  const note = (name: string, key: SecretKey | null, change: string, reason?: string) =>
    changes.set(name, { name, key, change, ...(reason !== undefined && { reason }) })
  for (const leaving of pushed) {
    const { key, value, version } = leaving
    const name = nameOf(key)
    const refusal = refusalOf(planning, hidden, names, name, leaving)
    if (refusal !== null || Either.isLeft(value)) {
      note(name, key, "refused", refusal ?? "it has no value")
      continue
    }
    const told = listed.keys.get(name)
    const row = owned.get(name)
    if (told !== undefined && isSame(told, value.right, digestOf(name, value.right), row)) note(name, key, "same")
    else if (told !== undefined && row === undefined && !takeOver) note(name, key, "theirs")
    else {
      note(name, key, told === undefined ? "new" : "changed")
      put.set(name, { key, version, value: value.right })
    }
  }
  const remove: Array<string> = []
  for (const name of listed.keys.keys()) {
    if (changes.has(name)) continue
    const isOwn = owned.has(name) && terms.remove === "own"
    if (isOwn) remove.push(name)
    note(name, null, isOwn ? "removed" : "theirs")
  }
  const sorted = [...changes.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  return { changes: sorted, put, remove }
}

/** Names a plan. It changes with either side, and holds nothing of a value. */
export const planName = (targetId: string, revision: number, { stamp }: Listed, { changes, put }: Plan): string =>
  createHash("sha256")
    .update(
      JSON.stringify([targetId, revision, stamp, changes, [...put].map(([name, { version }]) => [name, version])])
    )
    .digest("base64url")
    .slice(0, 32)
