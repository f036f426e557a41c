import { CofferClient } from "@coffer/domain/client/CofferClient"
import { credentialFor } from "@coffer/domain/client/Credentials"
import { loadSettings, Variables } from "@coffer/domain/client/Settings"
import { SecretKey } from "@coffer/domain/Names"
import { Effect, Either, Option, Redacted, Schema } from "effect"
import { describe, type Failure, WrongUsage } from "./Failures.js"
import { note, noteDefect, warnings } from "./Output.js"
import { childEnvironment, type PlainSecret } from "./run/ChildEnvironment.js"
import { findExecutable } from "./run/Executable.js"
import { sizeProblem, totalLimit } from "./run/Limits.js"
import { mangled } from "./run/Mangled.js"
import type { RunArgv, RunOptions } from "./run/RunArgv.js"
import type { Signals } from "./run/Signals.js"
import { NotStarted, type Outcome, start } from "./run/Start.js"
import { Version } from "./Version.js"

type Command = Extract<RunArgv, { type: "run" }>

const refuse = (problem: Option.Option<string>) =>
  Option.match(problem, {
    onNone: () => Effect.void,
    onSome: (message) => Effect.fail(new NotStarted({ code: 125, message }))
  })

/** What goes wrong before the command starts has one code of its own, so that it is never taken for the command's. */
const beforeStart = (failure: Failure) => new NotStarted({ code: 125, message: describe(failure).sentence })

const decodeKeys = Schema.decodeEither(Schema.Array(SecretKey))

/** Every secret that the command is to see, by one call. */
const fetchSecrets = Effect.fnUntraced(function* (options: RunOptions) {
  const settings = yield* loadSettings(options)
  const path = yield* settings.envPath
  const server = yield* settings.server
  const keys = yield* Either.mapLeft(
    decodeKeys(options.only),
    () => new WrongUsage({ message: "--only takes secret keys, separated by commas" })
  )
  const credential = Option.some(yield* credentialFor(server))
  const client = yield* Effect.provide(
    CofferClient,
    CofferClient.Default({ server, credential, program: "cli", version: yield* Version })
  )
  const urlParams = keys.length === 0 ? {} : { keys }
  const bundle = yield* client.call((api) => api.environments.bundle({ path, urlParams, headers: {} }))
  const secrets = bundle === undefined ? [] : bundle.data
  return secrets.map(({ key, value }): PlainSecret => ({ key, value: Redacted.value(value) }))
})

const commandEnvironment = Effect.fnUntraced(function* (
  secrets: ReadonlyArray<PlainSecret>,
  allowed: ReadonlyArray<string>
) {
  const found = childEnvironment(yield* Variables, secrets, new Set(allowed))
  const { dangerous, env, unnameable, withNul } = found
  if (withNul.length > 0) {
    return yield* new NotStarted({
      code: 125,
      message: `${withNul.join(", ")}: the value holds a NUL byte, which no environment variable can; choose other keys with --only`
    })
  }
  if (unnameable.length > 0) yield* note(`left out ${unnameable.join(", ")}: no environment variable can be called so`)
  if (dangerous.length > 0) {
    const flags = dangerous.map((key) => `--allow-env ${key}`).join(" ")
    yield* note(`left out ${dangerous.join(", ")}, which can make other programs run code; to pass it on: ${flags}`)
  }
  return env
})

const locate = (command: string, path: string | undefined) => {
  const lookup = findExecutable(command, path)
  if (lookup.type === "found") return Effect.succeed(lookup)
  return lookup.type === "not_found"
    ? Effect.fail(new NotStarted({ code: 127, message: `${command}: there is no such command` }))
    : Effect.fail(new NotStarted({ code: 126, message: `${command} cannot be executed: ${lookup.problem}` }))
}

const becomeCommand = Effect.fnUntraced(function* ({ args, command, options }: Command, signals: Signals) {
  yield* refuse(mangled(args.length + 1))
  const secrets = yield* Effect.mapError(fetchSecrets(options), beforeStart)
  const env = yield* commandEnvironment(secrets, options.allowEnv)
  const { forShell, path, sure } = yield* locate(command, env["PATH"])
  yield* refuse(sizeProblem([command, ...args], env, totalLimit()))
  return yield* start({ path, command, args, env, forShell, sure }, signals)
})

/** Runs a command that sees the secrets of an environment as its variables; answers how it ended. */
export const run = (command: Command, version: string, signals: Signals): Effect.Effect<Outcome> =>
  becomeCommand(command, signals).pipe(
    Effect.catchAll(({ code, message }) => Effect.as(note(message), { type: "exit", code } as const)),
    Effect.catchAllCause((cause) => Effect.as(noteDefect(cause), { type: "exit", code: 125 } as const)),
    Effect.provide(warnings),
    Effect.provideService(Version, version)
  )
