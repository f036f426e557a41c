import type { Credential } from "@coffer/client/internal/Credential"
import { type NameList as List, namesIn } from "@coffer/client/internal/NameList"
import { isArray, parseJson } from "@coffer/client/internal/ParseJson"
import { cachePath, readPrivate, writePrivate } from "@coffer/client/internal/PrivateFile"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { readdirSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"

/** How long a list of names is used, in milliseconds. */
const lifetime = 60_000

/** Names the server, the credential and the place without saying anything of them. */
const digest = ({ base }: ServerUrl, { secret, type }: Credential, { path }: List): string =>
  process
    .getBuiltinModule("node:crypto")
    .createHash("sha256")
    .update(JSON.stringify(["coffer names 2", base, type, Redacted.value(secret), ...path]))
    .digest("hex")

/** Which list of names, and for whom. */
interface NameList {
  readonly server: ServerUrl
  readonly credential: Credential
  readonly list: List
}

const fileOf = ({ credential, list, server }: NameList) => cachePath(`names/${digest(server, credential, list)}`)

const stat = Option.liftThrowable((path: string) => statSync(path))

/** Under `sudo -E`, a file of root would stay in the home of somebody else. */
const isOwn = (path: string): boolean => {
  const found = Option.getOrUndefined(stat(path))
  return found === undefined ? dirname(path) !== path && isOwn(dirname(path)) : found.uid === process.geteuid?.()
}

/** The names of a file, unless they are too old or from the future. */
const decode = (text: string, list: List, now: number): Option.Option<ReadonlyArray<string>> =>
  Option.flatMap(parseJson(text), (found) => {
    if (!Predicate.hasProperty(found, "at") || !Predicate.hasProperty(found, "names")) return Option.none()
    const { at, names } = found
    if (typeof at !== "number" || at > now || now - at > lifetime || !isArray(names)) return Option.none()
    return Option.some(namesIn(list, names))
  })

/** Removes the lists that nobody uses any more. */
const removeOld = (folder: string, now: number) =>
  Effect.try(() => {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      if (now - statSync(file).mtimeMs > lifetime) rmSync(file, { force: true })
    }
  })

/**
 * Keeps what `read` returns for a minute, in a file that only this user can read. A cache that fails changes nothing but
 * the time that it takes.
 */
export const cached = <E, R>(
  request: NameList,
  read: Effect.Effect<ReadonlyArray<string>, E, R>
): Effect.Effect<ReadonlyArray<string>, E, R> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const usable = yield* fileOf(request).pipe(
      Effect.filterOrFail((path) => isOwn(dirname(path))),
      Effect.option
    )
    if (Option.isNone(usable)) return yield* read
    const kept = yield* Effect.option(readPrivate(usable.value))
    const known = Option.flatMap(Option.flatten(kept), (text) => decode(text, request.list, now))
    if (Option.isSome(known)) return known.value
    const names = yield* read
    yield* Effect.ignore(writePrivate(usable.value, JSON.stringify({ at: now, names })))
    yield* Effect.ignore(removeOld(dirname(usable.value), now))
    return names
  })
