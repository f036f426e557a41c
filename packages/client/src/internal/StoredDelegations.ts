import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { delegationsPath, readDelegations, type StoredDelegation, type StoredDelegations } from "./DelegationFile.js"
import { type PrivateFileError, removePrivate, writePrivate } from "./PrivateFile.js"

const encode = (delegations: StoredDelegations) =>
  JSON.stringify(
    Object.fromEntries(
      [...delegations].map(([key, { expiresAt, id, name, token }]) => [
        key,
        { id, name, token: Redacted.value(token), expires_at: expiresAt }
      ])
    ),
    null,
    2
  )

const write = Effect.fnUntraced(function* (delegations: StoredDelegations) {
  const file = yield* delegationsPath
  if (delegations.size === 0) return yield* removePrivate(file)
  yield* writePrivate(file, `${encode(delegations)}\n`)
})

/** Stores the delegation for a place; replaces an earlier one. */
export const storeDelegation = (key: string, delegation: StoredDelegation): Effect.Effect<void, PrivateFileError> =>
  Effect.flatMap(readDelegations, (all) => write(new Map([...all, [key, delegation]])))

/** Removes the delegations of an id or a name, and the file when they are the last ones. Returns how many there were. */
export const forgetDelegations = (origin: string, nameOrId: string): Effect.Effect<number, PrivateFileError> =>
  Effect.gen(function* () {
    const all = yield* readDelegations
    const left = [...all].filter(
      ([key, { id, name }]) => !key.startsWith(`${origin} `) || (id !== nameOrId && name !== nameOrId)
    )
    const count = all.size - left.length
    if (count > 0) yield* write(new Map(left))
    return count
  })
