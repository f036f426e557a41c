import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Email } from "@coffer/domain/base/Names"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { dirname, resolve } from "node:path"
import { parseArgs } from "node:util"
import { loadConfig, ServerConfig, type Settings } from "./base/Config.js"
import type { PostgresSettings } from "./base/config/DatabaseSettings.js"
import { exposedSecrets } from "./base/config/Exposed.js"
import { GivenSettings, shownSettings } from "./base/config/ShownSettings.js"
import { unknownMessage, unknownSettings } from "./base/config/Unknown.js"
import { untilEnded } from "./base/ProcessEnd.js"
import { Starting } from "./base/Starting.js"
import type { Environment } from "./base/config/Variables.js"
import { startingAgain } from "./database/postgres/LostAtStart.js"
import { requireSoundAddon } from "./database/sqlite/Addon.js"
import { explainUnusable } from "./database/sqlite/Unusable.js"
import { causeText } from "./base/logging/ErrorText.js"
import { CorrectedClock } from "./database/jobs/CorrectedClock.js"
import { Version } from "./database/jobs/Replica.js"
import {
  copy,
  auditArchives,
  copyUsage,
  drill,
  loaded,
  migrations,
  restore,
  session,
  shares
} from "./operations/offline/OfflineCommands.js"
import { devHelp, help, refused, wrongUsage } from "./operations/Usage.js"
import { ownRole, workerRole, workerWord } from "./base/WorkerShare.js"
import { BrokerLive, mainOf, ServerLive, WorkerLive } from "./Server.js"

// Suppresses only the AWS SDK's notice about Node 20. The documentation says which version of Node we recommend.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true"

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"

/** Runs services until they end. `environment` is shown as the settings that were given. */
const run = <E extends { readonly message: string }>(
  settings: Settings,
  services: Layer.Layer<never, E, ServerConfig>,
  environment: Environment = process.env
) =>
  Effect.gen(function* () {
    // An embedded database checks it when it is opened.
    if (settings.postgres !== null) yield* requireSoundAddon()
    // Temporary files of SQLite go beside the database: a container may have no /tmp, or a small one in memory.
    process.env.SQLITE_TMPDIR ??= dirname(resolve(settings.dbPath))
    return yield* Effect.suspend(() =>
      Effect.provideService(
        untilEnded(Layer.launch(services.pipe(Layer.provide(Layer.succeed(ServerConfig, settings))))),
        Starting,
        { isOver: false }
      )
    ).pipe(
      startingAgain,
      Effect.provideService(Version, version),
      Effect.provideService(GivenSettings, shownSettings(environment, [])),
      Effect.withClock(new CorrectedClock())
    )
  })

const launch = <E extends { readonly message: string }>(
  settings: Settings,
  services: Layer.Layer<never, E, ServerConfig>,
  environment: Environment = process.env
) =>
  Effect.zipRight(
    Effect.forEach(
      exposedSecrets(environment),
      (name) =>
        Console.error(`coffer-server: every user of this machine can read the file of ${name}: run chmod 600 on it`),
      { discard: true }
    ),
    run(settings, services, environment)
  )

// Warn before the settings are read: a misspelt name may be the reason why a required setting is missing.
const warn = Effect.suspend(() =>
  Effect.forEach(
    unknownSettings(process.env),
    (unknown) => Console.error(`coffer-server: ${unknownMessage(unknown)}`),
    {
      discard: true
    }
  )
)

/**
 * Loads the settings of a server. The exit code of invalid ones is EX_CONFIG, after which systemd's unit is not started again: the
 * next start would fail in the same way. But a command that prints the master key may succeed then.
 */
const serverSettings = (environment: Environment, onSecret?: (variable: string, value: string) => void) =>
  loadConfig(environment, onSecret).pipe(
    Effect.tapError(({ problems }) =>
      Effect.sync(() => {
        if (!problems.some(({ variable }) => variable === "SERVICE_MASTER_KEY_COMMAND")) process.exitCode = 78
      })
    )
  )

/** Runs the main process of a server with workers. */
const launchMain = (
  settings: Settings,
  postgres: PostgresSettings,
  secrets: ReadonlyMap<string, string>,
  environment: Environment
) =>
  Effect.gen(function* () {
    const [{ workersLive }, { makeTeam }, { workerEnvironment }, { dividePool }, { OtherPages }] = yield* loaded(() =>
      Promise.all([
        import("./operations/workers/Workers.js"),
        import("./operations/workers/Team.js"),
        import("./base/config/WorkerEnvironment.js"),
        import("./base/config/WorkerSettings.js"),
        import("./operations/metrics/MetricsServer.js")
      ])
    )
    const team = makeTeam()
    const variables = workerEnvironment(environment, settings, postgres, secrets)
    const connections = dividePool(postgres.connections, settings.workers).main
    return yield* launch(
      { ...settings, postgres: { ...postgres, connections } },
      mainOf(workersLive(team, variables)),
      environment
    ).pipe(Effect.provideService(OtherPages, team.together))
  })

const serveBy = (environment: Environment) =>
  Effect.gen(function* () {
    const secrets = new Map<string, string>()
    const settings = yield* serverSettings(environment, (variable, value) => secrets.set(variable, value))
    const { postgres, workers } = settings
    return yield* workers === 1 || postgres === null
      ? launch(settings, ServerLive, environment)
      : launchMain(settings, postgres, secrets, environment)
  })

const serve = Effect.zipRight(warn, serveBy(process.env))

/** Serves what the main process of a server hands to it. */
const worker = (words: ReadonlyArray<string>) =>
  workerRole([workerWord, ...words]) === null || process.send === undefined
    ? wrongUsage("worker is started by a server with SERVICE_WORKERS")
    : Effect.flatMap(
        loaded(() => import("./operations/workers/WorkerProgram.js")),
        ({ workerProgram }) =>
          workerProgram((variables) => Effect.flatMap(loadConfig(variables), (settings) => run(settings, WorkerLive)))
      )

/** Makes requests with secrets beside servers: without their settings of mail and backups, which are not read. */
const broker = Effect.gen(function* () {
  yield* warn
  const own = Record.filter(
    process.env,
    (_, name) => !/^(?:(?:SMTP|BACKUP)_|SERVICE_(?:WORKERS|AUDIT_KEEP_DAYS)$)/.test(name)
  )
  const settings = yield* serverSettings({ ...own, SMTP_HOST: "log", SERVICE_BROKER: "1" })
  if (settings.postgres === null) {
    return yield* wrongUsage("broker shares the database of a server, which takes PostgreSQL: set SERVICE_DATABASE_URL")
  }
  return yield* launch({ ...settings, isBrokerAlone: true }, BrokerLive)
})

const devUsage =
  "dev takes --data with a folder; for tests --seed with a file, --json, --attached, and --folder with a folder"

const devOptions = {
  data: { type: "string" },
  "any-settings": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  seed: { type: "string" },
  folder: { type: "string" },
  json: { type: "boolean" },
  attached: { type: "boolean" }
} as const

const dev = (words: ReadonlyArray<string>) => {
  const options = Either.try(() => parseArgs({ args: [...words], options: devOptions }).values)
  if (Either.isLeft(options)) return wrongUsage(devUsage)
  const { "any-settings": anySettings, attached, data, folder, help: isAsked, json, seed } = options.right
  if (isAsked === true) return Console.log(devHelp)
  const isForTests = [seed, folder, json, attached].some((one) => one !== undefined)
  if (isForTests && (data !== undefined || anySettings === true)) return wrongUsage(devUsage)
  return Effect.gen(function* () {
    yield* warn
    if (!isForTests) {
      const { ownServer } = yield* loaded(() => import("./operations/dev/OwnServer.js"))
      return yield* ownServer(process.env, { data, anySettings: anySettings === true }, serveBy)
    }
    const { devServer } = yield* loaded(() => import("./operations/dev/DevServer.js"))
    const given = { seed, folder, json: json === true, attached: attached === true }
    return yield* devServer(process.env, given, (settings, environment) => launch(settings, ServerLive, environment))
  }).pipe(Effect.catchTag("DevRefused", ({ message }) => refused(message)))
}

const checkUsage = "check takes --mail-to with one e-mail address, and --json"

const runCheck = (words: ReadonlyArray<string>): Effect.Effect<void> => {
  const json = words.includes("--json")
  const [flag, text, ...rest] = words.filter((word) => word !== "--json")
  if (rest.length > 0 || (flag !== undefined && flag !== "--mail-to")) return wrongUsage(checkUsage)
  const mailTo = flag === undefined ? Option.some(null) : Schema.decodeUnknownOption(Email)(text ?? "")
  if (Option.isNone(mailTo)) return wrongUsage(checkUsage)
  const to = mailTo.value
  return Effect.gen(function* () {
    const { check } = yield* loaded(() => import("./operations/check/Check.js"))
    if (!(yield* check(process.env, { mailTo: to, json }))) process.exitCode = 1
  })
}

const command = ([first, ...rest]: ReadonlyArray<string>): Effect.Effect<void, { readonly message: string }> => {
  switch (first) {
    case undefined:
      return serve
    case workerWord:
      return worker(rest)
    case "broker":
      return rest.length > 0 ? wrongUsage("broker takes nothing more") : broker
    case "check":
      return runCheck(rest)
    case "session":
      return rest.length > 1 ? wrongUsage("session takes one e-mail address") : session(process.env, rest[0])
    case "migrate":
      return migrations(process.env, rest)
    case "database":
      return rest[0] === "copy" ? copy(process.env, rest.slice(1)) : wrongUsage(copyUsage)
    case "audit":
      return auditArchives(process.env, rest)
    case "master-key":
      return shares(rest)
    case "restore":
      return restore(process.env, rest)
    case "dev":
      return dev(rest)
    case "drill":
      return drill(process.env, rest)
    case "--version":
      return Console.log(version)
    case "--help":
    case "-h":
      return Console.log(help)
    default:
      return wrongUsage(`unknown command ${JSON.stringify(first)}`)
  }
}

/** Prints an expected error as its message, and an unexpected one with its stack. */
const report = (cause: Cause.Cause<{ readonly message: string }>) =>
  Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Console.error(
        Cause.isFailure(cause)
          ? `coffer-server: ${Cause.failures(cause).pipe((errors) => [...errors].map(({ message }) => message).join("\n"))}`
          : `coffer-server: unexpected error: ${causeText(cause)}`
      )

command(process.argv.slice(2)).pipe(
  explainUnusable,
  Effect.tapErrorCause(report),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, onExit) => {
      const succeeded = Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)
      const code = Number(process.exitCode ?? (succeeded ? 0 : 1))
      // The toolkit lets a program end by itself, and the channel to the main process may hold a worker.
      if (ownRole !== null) process.exit(code)
      onExit(code)
    }
  })
)
