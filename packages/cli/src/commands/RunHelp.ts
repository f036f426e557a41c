import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { Effect, Schema } from "effect"
import { WrongUsage } from "../Failures.js"
import { runFlags, runOptions } from "../run/RunArgv.js"
import { argument, env, org, project, serverUrl } from "./Shared.js"

const allowEnv = Options.text("allow-env").pipe(Options.withDescription(runOptions["allow-env"]), Options.repeated)
const text = (name: keyof typeof runOptions) =>
  Options.text(name).pipe(Options.withDescription(runOptions[name]), Options.optional)
const flag = (name: keyof typeof runFlags) => Options.boolean(name).pipe(Options.withDescription(runFlags[name]))
const watch = {
  watch: flag("watch"),
  watchInterval: text("watch-interval"),
  stopSignal: text("stop-signal"),
  stopTimeout: text("stop-timeout"),
  signal: text("signal")
}
const offline = { offlineFallback: flag("offline-fallback"), offlineMaxAge: text("offline-max-age") }
const command = argument(
  "COMMAND",
  Schema.String,
  "The command and its arguments; everything from here on is the command's"
)

/**
 * `run` for the help and the completions. It is never executed: `RunArgv` splits its arguments before the parser, which
 * must not parse the command's own arguments.
 */
export const runCommand = Command.make(
  "run",
  {
    serverUrl,
    org,
    project,
    env,
    only: text("only"),
    allowEnv,
    ...watch,
    ...offline,
    command: Args.atLeast(command, 1)
  },
  () => Effect.fail(new WrongUsage({ message: "write run first: coffer run [OPTIONS] -- COMMAND" }))
).pipe(
  Command.withDescription(
    "Run a command that sees the secrets as its environment variables. Example: coffer run --env prod -- npm start"
  )
)
