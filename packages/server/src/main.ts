import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { BackupId } from "@coffer/domain/Ids"
import { Email } from "@coffer/domain/Names"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { dirname, resolve } from "node:path"
import { parseArgs } from "node:util"
import { loadConfig, ServerConfig, type Settings } from "./base/Config.js"
import { parsePlace } from "./base/config/DatabasePlace.js"
import { exposedSecrets } from "./base/config/Exposed.js"
import { GivenSettings, shownSettings } from "./base/config/ShownSettings.js"
import { unknownMessage, unknownSettings } from "./base/config/Unknown.js"
import type { Environment } from "./base/config/Variables.js"
import { startingAgain } from "./database/postgres/LostAtStart.js"
import { requireSoundAddon } from "./database/sqlite/Addon.js"
import { explainUnusable } from "./database/sqlite/Unusable.js"
import { causeText } from "./base/logging/ErrorText.js"
import { CorrectedClock } from "./database/jobs/CorrectedClock.js"
import { Version } from "./database/jobs/Replica.js"
import { LoggingLive } from "./base/logging/Logging.js"
import { BrokerLive, ServerLive } from "./Server.js"

const help = `coffer-server: Coffer's server, one process with an embedded database, or several with PostgreSQL

It takes its settings from environment variables. These two are required:
  SERVICE_MASTER_KEY   64 hexadecimal digits; make one with: openssl rand -hex 32. SERVICE_MASTER_KEY_COMMAND can print it instead
  SMTP_HOST            the mail server for login codes, or "log" to print codes here

Others, with their defaults: SERVICE_DB_PATH (service.db) or SERVICE_DATABASE_URL, SERVICE_HOST (127.0.0.1), SERVICE_PORT (7100),
SERVICE_LOG_LEVEL (info), SUPERADMIN_EMAIL_0, ... All of them are described in the documentation.

  coffer-server                 serves
  coffer-server broker          only makes requests with secrets, beside servers on the same PostgreSQL database; it takes no
                                settings of mail and backups
  coffer-server check [--mail-to EMAIL] [--json]
                                prints every setting with its source, and checks the database, the key, the disk, mail (by
                                logging in, or by a test mail) and the backups' store; while a server runs, too
  coffer-server session EMAIL   prints a session token for EMAIL, with the server stopped: the way in when mail is down
  coffer-server migrate [--check]
                                migrates the schema of PostgreSQL; --check changes nothing, and exits with 3 when it is due
  coffer-server database copy --from FROM --to TO [--dry-run] [--json]
                                copies a database into an empty one and verifies the copy, with the servers of both stopped; each is
                                a file, postgres://..., or env:NAME for a variable that holds one of them
  coffer-server restore --apply FILE
                                swaps the database for a restored file, or fills an empty PostgreSQL database with it, with the
                                server stopped
  coffer-server dev [--seed FILE] [--json] [--attached] [--folder FOLDER]
                                serves a database of its own for tests, on 127.0.0.1, until it ends; FILE is JSON such as
                                {"dev": {"KEY": "value"}}; see docs/testing.md
  coffer-server master-key split K/N
                                prints N shares of the master key on standard input, of which any K give it back; each is a line to
                                be written down
  coffer-server master-key combine
                                prints the master key of the shares on standard input, one a line
  coffer-server drill [ID]      fetches a backup (the newest), opens it in a scratch file beside the database and checks every
                                value and audit log; while a server runs, too; the exit code is 1 when it is damaged
  coffer-server --version       prints the version
  coffer-server --help          prints this
`

/** What a command alone needs is loaded when it runs: it would cost a server memory and time. */
const loaded = <A>(load: () => Promise<A>) => Effect.promise(load)

// Suppresses only the AWS SDK's notice about Node 20. The documentation says which version of Node we recommend.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true"

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"

const launch = (settings: Settings, services: typeof ServerLive, environment: Environment = process.env) =>
  Effect.gen(function* () {
    // An embedded database checks it when it is opened.
    if (settings.postgres !== null) yield* requireSoundAddon()
    // Temporary files of SQLite go beside the database: a container may have no /tmp, or a small one in memory.
    process.env.SQLITE_TMPDIR ??= dirname(resolve(settings.dbPath))
    for (const name of exposedSecrets(environment)) {
      yield* Console.error(
        `coffer-server: every user of this machine can read the file of ${name}: run chmod 600 on it`
      )
    }
    return yield* Layer.launch(services.pipe(Layer.provide(Layer.succeed(ServerConfig, settings)))).pipe(
      startingAgain,
      Effect.provideService(Version, version),
      Effect.provideService(GivenSettings, shownSettings(environment, [])),
      Effect.withClock(new CorrectedClock())
    )
  })

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
const serverSettings = (environment: Environment) =>
  loadConfig(environment).pipe(
    Effect.tapError(({ problems }) =>
      Effect.sync(() => {
        if (!problems.some(({ variable }) => variable === "SERVICE_MASTER_KEY_COMMAND")) process.exitCode = 78
      })
    )
  )

const serve = Effect.gen(function* () {
  yield* warn
  return yield* launch(yield* serverSettings(process.env), ServerLive)
})

/** Makes requests with secrets beside servers: without their settings of mail and backups, which are not read. */
const broker = Effect.gen(function* () {
  yield* warn
  const own = Record.filter(process.env, (_, name) => !/^(?:SMTP|BACKUP)_/.test(name))
  const settings = yield* serverSettings({ ...own, SMTP_HOST: "log", SERVICE_BROKER: "1" })
  if (settings.postgres === null) {
    return yield* wrongUsage("broker shares the database of a server, which takes PostgreSQL: set SERVICE_DATABASE_URL")
  }
  return yield* launch({ ...settings, isBrokerAlone: true }, BrokerLive)
})

const refused = (message: string) =>
  Effect.zipRight(
    Console.error(`coffer-server: ${message}`),
    Effect.sync(() => {
      process.exitCode = 2
    })
  )

const wrongUsage = (message: string) => refused(`${message}: see coffer-server --help`)

/** Offline commands need no mail server, so SMTP_HOST is not required. */
const offlineSettings = Effect.suspend(() => loadConfig({ ...process.env, SMTP_HOST: "log" }))

const offline = <A, E, R>(command: Effect.Effect<A, E, R | ServerConfig>) =>
  Effect.flatMap(Effect.zipRight(requireSoundAddon(), offlineSettings), (settings) =>
    command.pipe(Effect.provide(LoggingLive), Effect.provideService(ServerConfig, settings))
  )

const session = (text: string | undefined) =>
  Effect.gen(function* () {
    const email = yield* Effect.option(Schema.decodeUnknown(Email)(text ?? ""))
    if (Option.isNone(email)) return yield* wrongUsage("session takes one e-mail address")
    const { offlineSession } = yield* loaded(() => import("./operations/offline/OfflineSession.js"))
    yield* Console.log(Redacted.value(yield* offline(offlineSession(email.value))))
  })

const restore = ([flag, file, ...rest]: ReadonlyArray<string>) =>
  flag !== "--apply" || file === undefined || rest.length > 0
    ? wrongUsage("restore takes --apply and one file")
    : Effect.gen(function* () {
        const { applyRestore } = yield* loaded(() => import("./operations/backups/Apply.js"))
        return yield* offline(applyRestore(file))
      })

const drill = ([text, ...rest]: ReadonlyArray<string>) => {
  const id = text === undefined ? Option.some(undefined) : Schema.decodeUnknownOption(BackupId)(text)
  return rest.length > 0 || Option.isNone(id)
    ? wrongUsage("drill takes at most one backup's id")
    : Effect.gen(function* () {
        const { offlineDrill } = yield* loaded(() => import("./operations/backups/OfflineDrill.js"))
        return yield* offline(offlineDrill(id.value))
      })
}

const migrations = (words: ReadonlyArray<string>) => {
  const [flag, ...rest] = words
  if (rest.length > 0 || (flag !== undefined && flag !== "--check")) return wrongUsage("migrate takes only --check")
  return Effect.gen(function* () {
    const { migrateCommand } = yield* loaded(() => import("./operations/offline/MigrateCommand.js"))
    if (yield* offline(migrateCommand(flag === "--check"))) process.exitCode = 3
  })
}

const sharesUsage =
  "master-key takes split with K/N (K from 2 on, N up to 255), or combine; the key and the shares come on standard input"

const shares = ([word, numbers, ...rest]: ReadonlyArray<string>) => {
  const [, threshold = NaN, count = NaN] = (/^(\d{1,3})\/(\d{1,3})$/.exec(numbers ?? "") ?? []).map(Number)
  const isSplit = word === "split" && threshold >= 2 && threshold <= count && count <= 255
  if (rest.length > 0 || !(isSplit || (word === "combine" && numbers === undefined))) return wrongUsage(sharesUsage)
  return Effect.gen(function* () {
    const { combineMasterKey, splitMasterKey } = yield* loaded(() => import("./operations/offline/KeyShares.js"))
    return yield* isSplit ? splitMasterKey(threshold, count) : combineMasterKey
  })
}

const copyUsage = "database copy takes --from and --to with a database each, and --dry-run and --json"

const copy = (words: ReadonlyArray<string>) => {
  const options = Either.try(() =>
    parseArgs({
      args: [...words],
      options: {
        from: { type: "string" },
        to: { type: "string" },
        "dry-run": { type: "boolean", default: false },
        json: { type: "boolean", default: false }
      }
    })
  )
  if (Either.isLeft(options)) return wrongUsage(copyUsage)
  const { "dry-run": dryRun, from, json, to } = options.right.values
  if (from === undefined || to === undefined) return wrongUsage(copyUsage)
  const place = (option: string, text: string) =>
    Either.mapLeft(parsePlace(text, process.env), (rule) => `${option} ${rule}`)
  const places = Either.all({ from: place("--from", from), to: place("--to", to) })
  if (Either.isLeft(places)) return wrongUsage(places.left)
  const { from: origin, to: destination } = places.right
  return Effect.gen(function* () {
    const { copyDatabase } = yield* loaded(() => import("./operations/copy/CopyCommand.js"))
    return yield* offline(copyDatabase({ from: origin, to: destination, dryRun, json }))
  })
}

const devUsage = "dev takes --seed with a file, --json, --attached, and --folder with a folder"

const dev = (words: ReadonlyArray<string>) => {
  const options = Either.try(() =>
    parseArgs({
      args: [...words],
      options: {
        seed: { type: "string" },
        folder: { type: "string" },
        json: { type: "boolean", default: false },
        attached: { type: "boolean", default: false }
      }
    })
  )
  if (Either.isLeft(options)) return wrongUsage(devUsage)
  const serve = (settings: Settings, environment: Environment) => launch(settings, ServerLive, environment)
  const given = { seed: undefined, folder: undefined, ...options.right.values }
  return Effect.gen(function* () {
    yield* warn
    const { devServer } = yield* loaded(() => import("./operations/dev/DevServer.js"))
    return yield* devServer(process.env, given, serve)
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
    case "broker":
      return rest.length > 0 ? wrongUsage("broker takes nothing more") : broker
    case "check":
      return runCheck(rest)
    case "session":
      return rest.length > 1 ? wrongUsage("session takes one e-mail address") : session(rest[0])
    case "migrate":
      return migrations(rest)
    case "database":
      return rest[0] === "copy" ? copy(rest.slice(1)) : wrongUsage(copyUsage)
    case "master-key":
      return shares(rest)
    case "restore":
      return restore(rest)
    case "dev":
      return dev(rest)
    case "drill":
      return drill(rest)
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
      onExit(Number(process.exitCode ?? (succeeded ? 0 : 1)))
    }
  })
)
