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

export const placeName = ({ env_name, org_name, project_name }: DelegatedPlace): string =>
  `${org_name}/${project_name}/${env_name}`

/** Written by hand, because loading schemas is too slow for `coffer run`. */
const decode = (text: string): Option.Option<StoredDelegation> =>
  Option.flatMap(Option.liftThrowable((): unknown => JSON.parse(text))(), (found) => {
    if (!Predicate.isRecord(found)) return Option.none()
    const { expires_at, id, name, token } = found
    if (typeof id !== "string" || typeof name !== "string" || typeof expires_at !== "string") return Option.none()
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) return Option.none()
    return Option.some({ id, name, token: Redacted.make(token), expiresAt: expires_at })
  })

/** The folder of a server's delegations. */
export const delegationFolder = (origin: string) => privatePath(`delegations/${encodeURIComponent(origin)}`)

/** A file for each place, so that programs that write at the same time lose nothing. No name of a place has a dot. */
export const delegationPath = (origin: string, { env_name, org_name, project_name }: DelegatedPlace) =>
  Effect.map(delegationFolder(origin), (folder) => `${folder}/${org_name}.${project_name}.${env_name}`)

/** Reads a file of `delegationPath`. */
export const readDelegationAt = Effect.fnUntraced(function* (path: string) {
  const text = yield* readPrivate(path)
  if (Option.isNone(text)) return Option.none()
  // The decoding error is not shown, because it may contain a token.
  const refused = () => new PrivateFileError({ message: `${path} is not the file of a delegation; remove it` })
  return Option.some(yield* Effect.mapError(decode(text.value), refused))
})

/** The delegation that is stored for a place. */
export const readDelegation = Effect.fnUntraced(function* (origin: string, place: DelegatedPlace) {
  // Without a home directory, none can have been stored.
  const path = yield* Effect.option(delegationPath(origin, place))
  return Option.isNone(path) ? Option.none() : yield* readDelegationAt(path.value)
})
