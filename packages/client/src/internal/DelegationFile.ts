import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { privatePath, PrivateFileError, readPrivate } from "./PrivateFile.js"

/** The names of an environment. */
export interface DelegatedPlace {
  readonly org_name: string
  readonly project_name: string
  readonly env_name: string
}

/** A delegation that is kept here, for one place of one server. */
export interface StoredDelegation {
  readonly id: string
  readonly name: string
  readonly token: Redacted.Redacted
  readonly expiresAt: string
}

/** Delegations by origin and place; a JSON object in the file. */
export type StoredDelegations = ReadonlyMap<string, StoredDelegation>

export const placeName = ({ env_name, org_name, project_name }: DelegatedPlace): string =>
  `${org_name}/${project_name}/${env_name}`

export const delegationKey = (origin: string, place: DelegatedPlace): string => `${origin} ${placeName(place)}`

/** Written by hand, because loading schemas is too slow for `coffer run`. */
const decode = (text: string): Option.Option<StoredDelegations> =>
  Option.flatMap(Option.liftThrowable((): unknown => JSON.parse(text))(), (found) => {
    if (!Predicate.isRecord(found)) return Option.none()
    const delegations = new Map<string, StoredDelegation>()
    for (const [key, one] of Object.entries(found)) {
      if (!Predicate.isRecord(one)) return Option.none()
      const { expires_at, id, name, token } = one
      if (typeof id !== "string" || typeof name !== "string" || typeof expires_at !== "string") return Option.none()
      if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) return Option.none()
      delegations.set(key, { id, name, token: Redacted.make(token), expiresAt: expires_at })
    }
    return Option.some(delegations)
  })

export const delegationsPath = privatePath("delegations")

/** The delegations of the file. */
export const readDelegations = Effect.gen(function* () {
  const none: StoredDelegations = new Map()
  const path = yield* Effect.option(delegationsPath)
  if (Option.isNone(path)) return none
  const text = yield* readPrivate(path.value)
  if (Option.isNone(text)) return none
  // The decoding error is not shown, because it may contain a token.
  return yield* Effect.mapError(
    decode(text.value),
    () => new PrivateFileError({ message: `${path.value} is not a file of delegations; remove it` })
  )
})
