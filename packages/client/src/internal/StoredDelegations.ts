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
import { privateNames, removePrivate, stagePrivate } from "./PrivateFile.js"

/**
 * Prepares to store the delegation for a place, which replaces an earlier one. Fails if it could not be stored: nobody could use
 * a delegation that is made then.
 */
export const stageDelegation = Effect.fnUntraced(function* (origin: string, place: DelegatedPlace) {
  const write = yield* stagePrivate(yield* delegationPath(origin, place))
  return ({ expiresAt, id, name, token }: StoredDelegation) =>
    write(`${JSON.stringify({ id, name, token: Redacted.value(token), expires_at: expiresAt }, null, 2)}\n`)
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

/** Removes stored delegations of a server. Returns how many there were. */
export const forgetDelegations = Effect.fnUntraced(function* (
  origin: string,
  which: (delegation: StoredDelegation) => boolean
) {
  const found = (yield* storedDelegations(origin)).filter(which)
  yield* Effect.forEach(found, ({ path }) => removePrivate(path), { discard: true })
  return found.length
})
