import {
  type BundleFailure,
  type BundleRequest,
  type BundleSecret,
  readBundle
} from "@coffer/domain/client/BundleClient"
import { credentialFor } from "@coffer/domain/client/Credentials"
import { warnOfClearText } from "@coffer/domain/client/ServerUrl"
import { loadSettings } from "@coffer/domain/client/Settings"
import { secretKeyForm } from "@coffer/domain/NameForms"
import { Effect, Either } from "effect"
import { splitPaths } from "../grammar/PlacePath.js"
import { describe, type Failure, WrongUsage } from "../Failures.js"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import { Version } from "../Version.js"
import { fileAllowance } from "./FileAllowance.js"
import type { RunOptions } from "./RunArgv.js"
import { NotStarted } from "./Start.js"

/** The secrets for the command, and the ETag to ask for changes with. */
export interface Fetched {
  readonly etag: string | undefined
  readonly secrets: ReadonlyArray<BundleSecret>
}

/** The longest list of keys in a request's address, in characters: servers and proxies take 8 KiB at least. */
const maxKeysLength = 7_000

/**
 * The request for the secrets: server, place and credential, from options, variables, `service.yml` and the session. And
 * what `service.yml` allows the command to see.
 */
export const bundleRequest = Effect.fnUntraced(function* (options: RunOptions) {
  const given = splitPaths(options)
  if (Either.isLeft(given)) return yield* new WrongUsage({ message: given.left })
  const settings = yield* loadSettings(given.right)
  const path = yield* settings.envPath
  const server = yield* settings.server
  const keys = options.only
  if (!keys.every((key) => secretKeyForm.is(key))) {
    return yield* new WrongUsage({ message: "--only takes secret keys, separated by commas" })
  }
  if (keys.join(",").length > maxKeysLength) {
    return yield* new WrongUsage({ message: "--only names too many keys: leave it out, or name fewer" })
  }
  const credential = yield* credentialFor(server)
  yield* warnOfClearText(server)
  const request: BundleRequest = { server, credential, path, keys, version: yield* Version }
  return { request, allowance: yield* fileAllowance(settings.file) }
})

/** Leaves `--offline-fallback` out in a session without a stored key: nothing would open a copy that it encrypts. */
export const withoutCopy = Effect.fnUntraced(function* (options: RunOptions, { credential }: BundleRequest) {
  if (options.offline === undefined || credential.type !== "federated") return options
  yield* note("--offline-fallback keeps no copy here: a copy needs a stored credential, and SERVICE_ACCOUNT has none")
  return { ...options, offline: undefined }
})

/** A failure before the command starts has its own exit code, unlike any of the command. */
export const beforeStart = (failure: Failure): NotStarted =>
  new NotStarted({ code: 125, message: describe(failure).sentence })

const loadOffline = Effect.promise(() => import("./Offline.js"))

/** Reads the secrets; with `--offline-fallback`, from the copy if the server is unreachable. */
export const fetchSecrets = (
  request: BundleRequest,
  { offline }: RunOptions
): Effect.Effect<Fetched, BundleFailure | NotStarted, Output> => {
  const bundle = readBundle(request)
  return offline === undefined
    ? bundle
    : Effect.flatMap(loadOffline, ({ withFallback }) => withFallback(bundle, request, offline.maxAge))
}
