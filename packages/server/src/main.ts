import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Effect, Exit, Layer, Schema } from "effect"
import { createRequire } from "node:module"
import { loadConfig, ServerConfig } from "./Config.js"
import { ServerLive } from "./Server.js"

const help = `coffer-server: Coffer's server, one process with an embedded database

It takes its settings from environment variables. These two are required:
  SERVICE_MASTER_KEY   64 hexadecimal digits; make one with: openssl rand -hex 32
  SMTP_HOST            the mail server for login codes, or "log" to print codes here

Others, with their defaults: SERVICE_DB_PATH (service.db), SERVICE_HOST (127.0.0.1), SERVICE_PORT (7100),
SERVICE_LOG_LEVEL (info), SUPERADMIN_EMAIL_0, ... All of them are described in the documentation.

  --version   prints the version
  --help      prints this
`

const serve = Effect.gen(function* () {
  const settings = yield* loadConfig(process.env)
  for (const name of settings.unknown) yield* Console.error(`coffer-server: no setting is named ${name}: it is ignored`)
  return yield* Layer.launch(ServerLive.pipe(Layer.provide(Layer.succeed(ServerConfig, settings))))
})

const version = Schema.decodeUnknown(Schema.Struct({ version: Schema.String }))(
  createRequire(import.meta.url)("../package.json")
)

const usage = (argument: string) =>
  Effect.zipRight(
    Console.error(`coffer-server takes no argument ${JSON.stringify(argument)}: see coffer-server --help`),
    Effect.sync(() => {
      process.exitCode = 2
    })
  )

const command = (argument: string | undefined): Effect.Effect<void, { readonly message: string }> => {
  switch (argument) {
    case undefined:
      return serve
    case "--version":
      return Effect.flatMap(version, (manifest) => Console.log(manifest.version))
    case "--help":
    case "-h":
      return Console.log(help)
    default:
      return usage(argument)
  }
}

/** What ends the program is told in one sentence: stack traces are for defects alone. */
const report = (cause: Cause.Cause<{ readonly message: string }>) =>
  Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Console.error(
        Cause.isFailure(cause)
          ? `coffer-server: ${Cause.failures(cause).pipe((errors) => [...errors].map(({ message }) => message).join("\n"))}`
          : Cause.pretty(cause)
      )

command(process.argv[2]).pipe(
  Effect.tapErrorCause(report),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, onExit) => {
      onExit(Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause) ? Number(process.exitCode ?? 0) : 1)
    }
  })
)
