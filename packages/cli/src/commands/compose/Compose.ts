import type { EnvPath } from "@coffer/domain/api/Paths"
import { type CommandLineSettings, loadSettings } from "@coffer/client/internal/Settings"
import { SecretKey, type SecretKey as Key } from "@coffer/domain/base/Names"
import { SecretKeys } from "@coffer/domain/secrets/SecretValues"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { CannotDo } from "../../base/Failures.js"
import { command, connect, env, org, project } from "../../grammar/Command.js"
import { placeGiven } from "../../grammar/Place.js"
import { argument, commas, option, optionalArgument, repeatedOption } from "../../grammar/Fields.js"
import { childEnvironment } from "../../run/ChildEnvironment.js"
import { printJson } from "../../terminal/Print.js"
import { metadata } from "./Metadata.js"
import { say, tell } from "./Messages.js"
import { requireComplete } from "../secrets/CompleteBundle.js"

const actions = Schema.Literal("up", "down", "metadata")

const chosen = {
  org,
  project,
  env,
  only: repeatedOption("only", commas(SecretKeys, "secret keys"), "Only these keys, separated by commas"),
  allowEnv: repeatedOption(
    "allow-env",
    SecretKey,
    "Pass on this key although its name makes other programs run code; may be given again"
  ),
  setenv: option(
    "setenv",
    Schema.Literal("false", "true"),
    "Set variables with the name of the service before their own, for a Compose that does not know rawsetenv"
  )
}

const parameters = Object.values(chosen).map(({ data }) => data)

interface Choice extends CommandLineSettings {
  readonly only: ReadonlyArray<ReadonlyArray<Key>>
  readonly allowEnv: ReadonlyArray<Key>
  readonly setenv: "true" | "false" | undefined
}

const read = Effect.fnUntraced(function* (given: CommandLineSettings, keys: ReadonlyArray<Key>) {
  const settings = yield* loadSettings(yield* placeGiven(given))
  const path: EnvPath = yield* settings.envPath
  const { call } = yield* connect(yield* settings.server, path)
  const urlParams = defined({ keys: keys.length === 0 ? undefined : keys })
  const bundle = yield* call("environments", (api) => api.bundle({ path, urlParams, headers: {} }))
  const secrets = yield* requireComplete(bundle)
  return { path, secrets: secrets.map(({ key, value }) => ({ key, value: Redacted.value(value) })) }
})

/** Gives Compose the variables. What `run` leaves out is left out here, and said. */
const up = Effect.fnUntraced(function* ({ allowEnv, only, setenv, ...given }: Choice) {
  const { path, secrets } = yield* read(given, [...new Set(only.flat())])
  const rules = { allowed: new Set<string>(allowEnv), isOverriding: true }
  const { dangerous, env: variables, unnameable, withNul } = childEnvironment({}, secrets, rules)
  if (withNul.length > 0) {
    return yield* new CannotDo({
      message: `${withNul.join(", ")}: the value holds a NUL byte, which no environment variable can; choose other keys with the option only`
    })
  }
  if (unnameable.length > 0) {
    yield* tell("info", `left out ${unnameable.join(", ")}: no environment variable can be called so`)
  }
  if (dangerous.length > 0) {
    const they = dangerous.length === 1 ? "it" : "them"
    yield* tell(
      "info",
      `left out ${dangerous.join(", ")}, which can make other programs run code; to pass ${they} on, name ${they} in the option allow-env`
    )
  }
  const type = setenv === "true" ? "setenv" : "rawsetenv"
  const names = Object.keys(variables)
  yield* Effect.forEach(Object.entries(variables), ([name, value]) => say(type, `${name}=${value}`))
  yield* tell(
    "info",
    `${names.length} ${names.length === 1 ? "secret" : "secrets"} of ${path.org_name}/${path.project_name}/${path.env_name}`
  )
})

export const composeCommand = command("compose", {
  description: "Be a provider of Docker Compose: services that depend on it get the secrets as their environment",
  examples: [
    "coffer compose metadata",
    "coffer compose --project-name=shop up --project=webshop --env=dev env",
    "coffer compose --project-name=shop down env"
  ],
  // Compose shows no standard error of a provider.
  report: (sentence) => tell("error", sentence),
  options: {
    action: argument("ACTION", actions, "What Compose asks for: up, down or metadata"),
    service: optionalArgument("SERVICE", Schema.String, "The service's name in the compose file"),
    composeProject: option("project-name", Schema.String, "The project's name in Compose, which changes nothing"),
    ...chosen
  },
  run: ({ action, ...choice }) => {
    // `down` has nothing to clean up.
    if (action === "down") return Effect.void
    return action === "metadata" ? printJson(metadata(parameters)) : up(choice)
  }
})
