import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Record from "effect/Record"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { loadConfig, ServerConfig, type Settings } from "../../base/Config.js"
import type { Environment } from "../../base/config/Variables.js"
import { LoggingLive } from "../../base/logging/Logging.js"
import { Listening } from "../../http/Listening.js"
import { devFolder, type State } from "./DevFolder.js"
import { DevRefused } from "./DevRefused.js"
import { refused, taken } from "./DevSettings.js"
import { placeOf, seedDatabase } from "./Seeding.js"
import { readSeed, type Seed } from "./SeedFile.js"

export interface DevOptions {
  /** A file of environments and their secrets. */
  readonly seed: string | undefined
  /** Where the data is, for a program that starts the server again after it was killed. */
  readonly folder: string | undefined
  readonly json: boolean
  /** Whether it ends with its standard input. */
  readonly attached: boolean
}

const settingsOf = (environment: Environment, folder: string, masterKey: Redacted.Redacted) => ({
  SERVICE_PORT: "0",
  SERVICE_LOG_LEVEL: "warn",
  ...Record.filter(environment, (value, name) => taken.includes(name) && !!value),
  SERVICE_MASTER_KEY: Redacted.value(masterKey),
  SERVICE_DB_PATH: join(folder, "service.db"),
  SMTP_HOST: "log"
})

const described = (url: string, { api_key, place }: State, seed: Seed) => {
  const [org, project, env] = place.split("/")
  const others = [...seed.keys()].slice(1)
  return [
    `A server for tests is at ${url}, with the place ${place}. When it ends (Ctrl-C), all of its data is gone.`,
    ...(others.length === 0
      ? []
      : [`Its other places are ${others.map(placeOf).join(", ")}: name them by SERVICE_ENV.`]),
    "",
    "In another terminal:",
    `  export SERVICE_SERVER_URL=${url}`,
    `  export SERVICE_API_KEY=${Redacted.value(api_key)}`,
    `  export SERVICE_ORG=${org} SERVICE_PROJECT=${project} SERVICE_ENV=${env}`,
    "  coffer secret list"
  ].join("\n")
}

/** Completes when standard input ends, as it does when the program at its other end does. */
const inputEnds = Effect.async<void>((resume) => {
  const end = () => {
    resume(Effect.void)
  }
  process.stdin.once("end", end).once("close", end).once("error", end).resume()
})

/** `coffer-server dev --seed FILE`: serves a database of its own that lives as long as the process, by `serve`. */
export const devServer = <A, E, R>(
  environment: Environment,
  { attached, folder: given, json, seed: file }: DevOptions,
  serve: (settings: Settings, environment: Environment) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const outside = Object.keys(environment).filter((name) => refused.test(name) && !!environment[name])
    if (outside.length > 0) {
      return yield* new DevRefused({
        message: `dev has a database, a key and an address of its own: unset ${outside.join(", ")}`
      })
    }
    const seed: Seed = file === undefined ? new Map() : yield* readSeed(file)
    const folder = yield* devFolder(given)
    if (file !== undefined && folder.state !== null) {
      return yield* new DevRefused({
        message: `${folder.path} has data already: leave out --seed, or remove the folder`
      })
    }
    const masterKey = folder.state?.master_key ?? Redacted.make(randomBytes(32).toString("hex"))
    const own = settingsOf(environment, folder.path, masterKey)
    const settings = yield* loadConfig(own)
    const state =
      folder.state ??
      (yield* seedDatabase(seed, file ?? "").pipe(
        Effect.provide(LoggingLive),
        Effect.provideService(ServerConfig, settings),
        Effect.map((seeded) => ({ ...seeded, master_key: masterKey })),
        Effect.tap(folder.keep)
      ))
    const { api_key, place } = state
    return yield* serve(settings, own).pipe(
      Effect.provideService(Listening, (url) =>
        Console.log(
          json ? JSON.stringify({ url, api_key: Redacted.value(api_key), place }) : described(url, state, seed)
        )
      )
    )
  }).pipe(Effect.scoped, (served) => (attached ? Effect.raceFirst(served, inputEnds) : served))
