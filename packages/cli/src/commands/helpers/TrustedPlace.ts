import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import type { PrivateFileError } from "@coffer/client/internal/PrivateFile"
import { type CommandLineSettings, loadSettings, type Settings } from "@coffer/client/internal/Settings"
import type { ReadFile } from "@coffer/client/internal/ServiceFile"
import { serviceFileKeys } from "@coffer/client/internal/ServiceFileKeys"
import { fileTrust } from "@coffer/client/internal/TrustedFiles"
import { readBundle } from "@coffer/client/internal/BundleClient"
import * as Effect from "effect/Effect"
import { CannotDo } from "../../base/Failures.js"
import { explainingMissingOf, placeGiven } from "../../grammar/Place.js"
import { Version } from "../../base/Version.js"

export interface PlaceOptions extends CommandLineSettings {
  readonly nonInteractive: boolean
}

/** The files that the place comes from: a setting of the command line or a variable goes before them. */
const filesOf = ({ files, find, findServer }: Settings): ReadonlyArray<ReadFile> =>
  serviceFileKeys.flatMap((key) => {
    const source = key === "server_url" ? findServer().source : find(key)?.source
    const file = files.settings[key]?.file
    return source === "file" && file !== undefined ? [file] : []
  })

/** Why a file says nothing about credentials; undefined for a trusted one. */
const problemOf = (file: ReadFile): Effect.Effect<string | undefined, PrivateFileError> =>
  Effect.map(fileTrust(file), (trust) => {
    if (trust === "trusted") return undefined
    const why = trust === "changed" ? "has changed since it was trusted" : "is not trusted"
    return `no credential is given, because ${file.name} ${why}: read it, then run: coffer trust`
  })

/**
 * Why no credential is given here: a cloned repository must not choose where one goes, or which. Undefined if every file that
 * has a say is trusted.
 *
 * @param also a further file that has a say.
 */
export const distrust = (settings: Settings, also: ReadonlyArray<ReadFile> = []) =>
  Effect.map(Effect.forEach(new Set([...also, ...filesOf(settings)]), problemOf), (problems) =>
    problems.find((problem) => problem !== undefined)
  )

export const settingsFor = (options: PlaceOptions) =>
  Effect.flatMap(placeGiven(options), (given) => loadSettings(given))

/** Fails unless every file that has a say is trusted. */
export const requireTrust = (settings: Settings) =>
  Effect.flatMap(distrust(settings), (problem) =>
    problem === undefined ? Effect.void : new CannotDo({ message: problem })
  )

/** Reads secrets of the environment at once. */
export const readSecrets = Effect.fnUntraced(function* (
  settings: Settings,
  options: PlaceOptions,
  keys: ReadonlyArray<string>
) {
  const path = yield* settings.envPath
  const server = yield* settings.server
  const credential = yield* credentialFor(server, path, options.nonInteractive)
  const request = { server, credential, path, keys, version: yield* Version }
  const { secrets } = yield* explainingMissingOf(request, options)(readBundle(request))
  return new Map(secrets.map(({ key, value }) => [key, value]))
})
