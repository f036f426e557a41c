import type { BundleRequest } from "@coffer/client/internal/BundleClient"
import { connectTo } from "@coffer/client/internal/Connection"
import type { Exchange } from "@coffer/client/internal/Exchange"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import type { EnvNames } from "@coffer/client/internal/SecretCalls"
import { type ServerUrl, warnOfClearText } from "@coffer/client/internal/ServerUrl"
import { type CommandLineSettings, loadSettings, type Settings } from "@coffer/client/internal/Settings"
import type { NotFound } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { type Failure, WrongUsage } from "../base/Failures.js"
import { Version } from "../base/Version.js"
import { placeOptions } from "./Data.js"
import type { PlacePath } from "./Missing.js"
import { splitPaths } from "./PlacePath.js"
import { common, flag, textOption } from "./Specs.js"

/** The options that name the server and the place, and the one for machines. */
export const placeSpecs = {
  serverUrl: textOption(placeOptions.serverUrl),
  org: textOption(placeOptions.org),
  project: textOption(placeOptions.project),
  env: textOption(placeOptions.env)
}

export const jsonSpec = common(flag("json", "Print the API's own records, for machines"))

/** Of commands that print a list, whose text has no secret values. */
export const wideSpec = common(flag("wide", "Show every column in full, also where the terminal has no room"))

export const nonInteractiveSpec = common(
  flag("non-interactive", "Take no session: an API key, or the delegation for the place; as SERVICE_NON_INTERACTIVE=1")
)

/** The options of a command at an environment. */
export const envSpecs = { ...placeSpecs, nonInteractive: nonInteractiveSpec, json: jsonSpec }

export const allEnvsSpec = flag("all-envs", "Compare all environments of the project, without showing values")

/** Fails if there is a problem. */
export const refuse = (problem: string | undefined): Effect.Effect<void, WrongUsage> =>
  problem === undefined ? Effect.void : Effect.fail(new WrongUsage({ message: problem }))

const partNames = { env: "environment", project: "project", org: "organization" } as const

/** Returns the problem with a place that is named twice: by an argument, and differently by an option. */
export const placeProblem = (options: CommandLineSettings, argument: CommandLineSettings): string | undefined => {
  const given = Either.getOrElse(splitPaths(options), () => options)
  const problems = (["env", "project", "org"] as const).flatMap((key) => {
    const [option, named] = [given[key], argument[key]]
    if (option === undefined || named === undefined || option === named) return []
    return `--${key} ${option} and ${named} both name the ${partNames[key]}: leave one of them out`
  })
  return problems[0]
}

/** The settings that a command line gives, each by itself. */
export const placeGiven = (given: CommandLineSettings): Either.Either<CommandLineSettings, WrongUsage> =>
  Either.mapLeft(splitPaths(given), (message) => new WrongUsage({ message }))

/** Finds the server, and the place of a command, in the settings. */
export const findPlace = Effect.fnUntraced(function* <Path, E>(
  { env, org, project, serverUrl }: CommandLineSettings,
  pathOf: (settings: Settings) => Effect.Effect<Path, E>
) {
  const given = yield* placeGiven({ serverUrl, org, project, env })
  const settings = yield* loadSettings(given)
  const path = yield* pathOf(settings)
  return { given, settings, path, server: yield* settings.server }
})

/** An exchange with a server, with the credential for that server. The connections are closed with the scope. */
export const exchangeAt = Effect.fnUntraced(function* (server: ServerUrl, place: EnvNames, takesNoSession: boolean) {
  const credential = yield* credentialFor(server, place, takesNoSession)
  yield* warnOfClearText(server)
  return yield* connectTo({ server, credential: Option.some(credential), program: "cli", version: yield* Version })
})

const isNotFound = (failure: Failure): failure is NotFound => failure._tag === "NotFound"

/** The option that names the server again, if the command line does. */
const serverOption = ({ serverUrl }: CommandLineSettings) =>
  serverUrl === undefined ? [] : ["--server-url", serverUrl]

interface Where {
  readonly exchange: Exchange
  readonly given: CommandLineSettings
  readonly path: PlacePath | void
  readonly server: ServerUrl
}

/** Explains NOT_FOUND by the place. */
export const explainingMissing =
  ({ exchange, given, path, server }: Where) =>
  <A, E extends Failure, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catchIf(effect, isNotFound, (failure) =>
      Effect.flatMap(
        // Loaded late: most names exist.
        Effect.promise(() => import("./Missing.js")),
        ({ explainMissing }) => explainMissing(failure, { exchange, server }, path ?? {}, serverOption(given))
      )
    )

/** The same for a bundle. It connects only if a name does not exist. */
export const explainingMissingOf =
  (request: BundleRequest, given: CommandLineSettings) =>
  <A, E extends Failure, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catchIf(effect, isNotFound, (failure) =>
      connectTo({ ...request, credential: Option.some(request.credential), program: "cli" }).pipe(
        Effect.flatMap((exchange) =>
          explainingMissing({ exchange, given, path: request.path, server: request.server })(Effect.fail(failure))
        ),
        Effect.scoped
      )
    )
