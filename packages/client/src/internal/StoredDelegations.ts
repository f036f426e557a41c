import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import {
  type DelegatedPlace,
  delegationFolder,
  delegationPath,
  readDelegationAt,
  type StoredDelegation
} from "./DelegationFile.js"
import { privateNames, removePrivate, stagePrivate, writePrivate } from "./PrivateFile.js"

const textOf = ({ expiresAt, id, name, token }: StoredDelegation) =>
  `${JSON.stringify({ id, name, token: Redacted.value(token), expires_at: expiresAt }, null, 2)}\n`

/**
 * Prepares to store the delegation for its places, where it replaces earlier ones. Fails if it could not be stored: nobody could use
 * a delegation that is made then.
 */
export const stageDelegations = Effect.fnUntraced(function* (origin: string, places: ReadonlyArray<DelegatedPlace>) {
  const writes = yield* Effect.forEach(places, (place) => Effect.flatMap(delegationPath(origin, place), stagePrivate))
  return (delegation: StoredDelegation) =>
    Effect.forEach(writes, (write) => write(textOf(delegation)), { discard: true })
})

/** The delegations that are stored for a server, by the places' names. */
export const storedDelegations = Effect.fnUntraced(function* (origin: string) {
  const folder = yield* delegationFolder(origin)
  const found = yield* Effect.forEach(yield* privateNames(folder), (file) =>
    Effect.map(
      readDelegationAt(`${folder}/${file}`),
      Option.map((delegation) => ({ ...delegation, path: `${folder}/${file}`, place: file.replaceAll(".", "/") }))
    )
  )
  return found.flatMap(Option.toArray)
})

/**
 * Keeps of stored delegations only that they have ended, so that no session takes their place unasked. Returns how many there were.
 */
export const endDelegations = Effect.fnUntraced(function* (
  origin: string,
  which: (delegation: StoredDelegation) => boolean
) {
  const found = (yield* storedDelegations(origin)).filter(which)
  const expiresAt = DateTime.formatIso(yield* DateTime.now)
  yield* Effect.forEach(
    found,
    ({ path, ...delegation }) =>
      writePrivate(path, textOf({ ...delegation, expiresAt, token: Redacted.make("revoked") })),
    { discard: true }
  )
  return found.length
})

/** Removes stored delegations of a server. Returns how many there were. */
export const forgetDelegations = Effect.fnUntraced(function* (
  origin: string,
  which: (delegation: StoredDelegation) => boolean
) {
  const found = (yield* storedDelegations(origin)).filter(which)
  yield* Effect.forEach(found, ({ path }) => removePrivate(path), { discard: true })
  return found.length
})
