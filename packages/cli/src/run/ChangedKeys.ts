import type { BundleSecret } from "@coffer/client/internal/BundleClient"
import * as Redacted from "effect/Redacted"

/** More keys than these are counted. */
const most = 10

const list = (what: string, keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (keys.length === 0) return []
  const shown = keys.slice(0, most).join(", ")
  return [`${what} ${keys.length > most ? `${shown} and ${keys.length - most} more` : shown}`]
}

/** Returns the keys that differ between two states of the secrets, for people. Empty if there is no difference. */
export const changedKeys = (before: ReadonlyArray<BundleSecret>, after: ReadonlyArray<BundleSecret>): string => {
  const old = new Map(before.map(({ key, value }) => [key, Redacted.value(value)]))
  const left = new Set(after.map(({ key }) => key))
  const added = after.filter(({ key }) => !old.has(key))
  const changed = after.filter(({ key, value }) => old.has(key) && old.get(key) !== Redacted.value(value))
  const keysOf = (secrets: ReadonlyArray<BundleSecret>) => secrets.map(({ key }) => key)
  return [
    ...list("added", keysOf(added)),
    ...list("changed", keysOf(changed)),
    ...list("removed", keysOf(before.filter(({ key }) => !left.has(key))))
  ].join("; ")
}
