import {
  type BundleFailure,
  type BundleRequest,
  type BundleSecret,
  type FetchedBundle,
  readBundle
} from "@coffer/client/internal/BundleClient"
import { connectTo } from "@coffer/client/internal/Connection"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import { warnOfClearText } from "@coffer/client/internal/ServerUrl"
import { loadSettings } from "@coffer/client/internal/Settings"
import { secretKeyForm } from "@coffer/domain/base/NameForms"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { placeBeside, splitPaths } from "../grammar/PlacePath.js"
import { type Failure, WrongUsage } from "../base/Failures.js"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import { Version } from "../base/Version.js"
import { beforeStart } from "./StartFailure.js"
import { fileAllowance } from "./FileAllowance.js"
import type { RunOptions } from "./RunArgv.js"
import { NotStarted } from "./Start.js"

/** The secrets for the command, and what each place holds. */
export interface Fetched {
  readonly parts: ReadonlyArray<FetchedBundle>
  readonly secrets: ReadonlyArray<BundleSecret>
}

/** The request for each place, in the order of precedence: later ones win. */
export type Requests = Array.NonEmptyReadonlyArray<BundleRequest>

/** Merges the secrets of several places. */
export const merge = (parts: ReadonlyArray<FetchedBundle>): Fetched => ({
  parts,
  secrets: [...new Map(parts.flatMap(({ secrets }) => secrets.map((secret) => [secret.key, secret] as const))).values()]
})

const nameOf = ({ path }: BundleRequest) => `${path.org_name}/${path.project_name}/${path.env_name}`

/** Names the keys that have other values in earlier places, by the place that wins. */
export const clashes = (requests: Requests, { parts }: Fetched): ReadonlyArray<string> => {
  const winners = new Map<string, { readonly place: string; readonly value: string }>()
  const clashing = new Set<string>()
  requests.forEach((request, index) => {
    for (const { key, value } of parts[index]?.secrets ?? []) {
      const next = { place: nameOf(request), value: Redacted.value(value) }
      if ((winners.get(key)?.value ?? next.value) !== next.value) clashing.add(key)
      winners.set(key, next)
    }
  })
  return Object.entries(Array.groupBy(clashing, (key) => winners.get(key)?.place ?? "")).map(
    ([place, keys]) => `taken from ${place}, where other places have other values: ${keys.join(", ")}`
  )
}

/** The longest list of keys in a request's address, in characters: servers and proxies take 8 KiB at least. */
export const maxKeysLength = 7_000

/**
 * The requests for the secrets: server, place and credential, from options, variables, `service.yml` and the session. And
 * what `service.yml` allows the command to see.
 */
export const bundleRequests = Effect.fnUntraced(function* (options: RunOptions) {
  const given = splitPaths(options)
  if (Either.isLeft(given)) return yield* new WrongUsage({ message: given.left })
  const settings = yield* loadSettings(given.right)
  const path = yield* settings.envPath
  const paths: Array.NonEmptyArray<typeof path> = [path]
  for (const word of options.also) {
    const beside = placeBeside({ org: path.org_name, project: path.project_name }, word, "--also")
    if (Either.isLeft(beside)) return yield* new WrongUsage({ message: beside.left })
    paths.push(yield* (yield* loadSettings(beside.right)).envPath)
  }
  const server = yield* settings.server
  const keys = options.only
  if (!keys.every((key) => secretKeyForm.is(key))) {
    return yield* new WrongUsage({ message: "--only takes secret keys, separated by commas" })
  }
  if (keys.join(",").length > maxKeysLength) {
    return yield* new WrongUsage({ message: "--only names too many keys: leave it out, or name fewer" })
  }
  yield* warnOfClearText(server)
  const version = yield* Version
  const requests: Requests = yield* Effect.forEach(paths, (place) =>
    Effect.map(credentialFor(server, place, options.isNonInteractive), (credential) => ({
      server,
      credential,
      path: place,
      keys,
      version
    }))
  )
  const { files } = settings
  return { requests, allowance: yield* fileAllowance(files), files }
})

/** Leaves `--offline-fallback` out in a session without a stored key: nothing would open a copy that it encrypts. */
export const withoutCopy = Effect.fnUntraced(function* (options: RunOptions, [{ credential }]: Requests) {
  if (options.offline === undefined || credential.type !== "federated") return options
  yield* note("--offline-fallback keeps no copy here: a copy needs a stored credential, and SERVICE_ACCOUNT has none")
  return { ...options, offline: undefined }
})

/** A command of `coffer run` does not inherit the credential, and may be `coffer run` again. */
const nested =
  "inside another coffer run there is none, because that one keeps it: name further places there with --also"

export const beforeRequest = (failure: Failure): Effect.Effect<never, NotStarted> =>
  Effect.mapError(beforeStart(failure), ({ code, message }) =>
    failure._tag === "NotAuthenticated"
      ? new NotStarted({ code, message: `${message}; ${nested}` })
      : new NotStarted({ code, message })
  )

const loadMissing = Effect.promise(() => import("../grammar/Missing.js"))
const loadOffline = Effect.promise(() => import("./Offline.js"))

const fetchOne = (
  request: BundleRequest,
  { offline }: RunOptions
): Effect.Effect<FetchedBundle, BundleFailure | NotStarted, Output> => {
  const bundle = readBundle(request)
  const fetched =
    offline === undefined
      ? bundle
      : Effect.flatMap(loadOffline, ({ withFallback }) => withFallback(bundle, request, offline.maxAge))
  return Effect.catchTag(fetched, "NotFound", (failure) =>
    Effect.gen(function* () {
      const { explainMissing } = yield* loadMissing
      const exchange = yield* connectTo({ ...request, credential: Option.some(request.credential), program: "cli" })
      return yield* explainMissing(failure, { exchange, server: request.server }, request.path)
    }).pipe(Effect.scoped, Effect.catchAll(beforeStart))
  )
}

/** Reads the secrets; with `--offline-fallback`, from the copies if the server is unreachable. Names keys that clash. */
export const fetchSecrets = Effect.fnUntraced(function* (requests: Requests, options: RunOptions) {
  const fetched = merge(yield* Effect.forEach(requests, (request) => fetchOne(request, options)))
  yield* Effect.forEach(clashes(requests, fetched), note)
  return fetched
})
