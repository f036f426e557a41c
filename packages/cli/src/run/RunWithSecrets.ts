import type { FoundServiceFiles } from "@coffer/client/internal/ServiceFile"
import { Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { descriptors, silent } from "../terminal/Output.js"
import { defectSentence, note, warnings } from "../terminal/Print.js"
import { beforeStart } from "./StartFailure.js"
import { inheritedDescriptors } from "./InheritedDescriptors.js"
import { mangled } from "./Mangled.js"
import { prepare, refuse } from "./Prepare.js"
import type { FileOptions, RunArgv, RunOptions } from "./RunArgv.js"
import type { Outcome, Signals } from "./Signals.js"
import { beforeRequest, bundleRequests, fetchSecrets, type Requests, withoutCopy } from "./SecretSource.js"
import { start } from "./Start.js"
import { Version } from "../base/Version.js"

/** The arguments of `coffer run`, where they start a command. */
export type RunArguments = Extract<RunArgv, { type: "run" }>

/** Loaded lazily: most runs write no files. */
const openFiles = (options: FileOptions, signals: Signals) =>
  Effect.flatMap(
    Effect.promise(() => import("./SecretFiles.js")),
    ({ secretFiles }) => secretFiles(options, signals)
  )

/** Loaded lazily: most files name no leases. */
const addLeases = (options: RunOptions, found: FoundServiceFiles) =>
  Effect.flatMap(
    Effect.promise(() => import("./FileLeases.js")),
    ({ withFileLeases }) => withFileLeases(options, found)
  ).pipe(Effect.catchTag("PrivateFileError", beforeStart))

/** Loaded lazily: most runs lease nothing. */
const openLeases = (requests: Requests, options: RunOptions, signals: Signals) =>
  Effect.flatMap(
    Effect.promise(() => import("./RunLeases.js")),
    ({ runLeases }) => runLeases(requests[0], options, signals)
  )

const runCommand = Effect.fnUntraced(function* (given: RunArguments, signals: Signals) {
  const { MAKEFLAGS } = yield* Variables
  const descriptors = inheritedDescriptors(MAKEFLAGS)
  yield* refuse(mangled(given.args.length + 1))
  const { allowance, files: found, requests } = yield* Effect.catchAll(bundleRequests(given.options), beforeRequest)
  const withLeases = found.leases === undefined ? given.options : yield* addLeases(given.options, found)
  const options = yield* withoutCopy(withLeases, requests)
  const files = options.files === undefined ? undefined : yield* openFiles(options.files, signals)
  const command = { ...given, options, descriptors, files }
  if (options.isChecking) {
    const { checkKeys } = yield* Effect.promise(() => import("./KeyCheck.js"))
    yield* Effect.forEach(requests, (request) => checkKeys(request, options))
  }
  const fetched = yield* Effect.catchAll(fetchSecrets(requests, options), (failure) =>
    failure._tag === "NotStarted" ? failure : beforeStart(failure)
  )
  const leases = options.leases.size === 0 ? undefined : yield* openLeases(requests, options, signals)
  const program = yield* prepare(command, [...fetched.secrets, ...(leases?.secrets() ?? [])], allowance)
  if (options.watch === undefined) return yield* start(program, signals)
  const { watch } = yield* Effect.promise(() => import("./Watch.js"))
  const first = { ...fetched, program }
  return yield* watch({ command, requests, allowance, signals, leases, options: options.watch, first })
}, Effect.scoped)

/** Runs a command that sees the secrets of an environment as its variables. Returns how it ended. */
export const run = (command: RunArguments, version: string, signals: Signals): Effect.Effect<Outcome> =>
  runCommand(command, signals).pipe(
    Effect.provide(Layer.provideMerge(warnings, command.options.isQuiet ? silent : descriptors)),
    Effect.catchAll(({ code, message }) => Effect.as(note(message), { type: "exit", code } as const)),
    Effect.catchAllCause((cause) => Effect.as(note(defectSentence(cause)), { type: "exit", code: 125 } as const)),
    Effect.provide(descriptors),
    Effect.provideService(Version, version)
  )
