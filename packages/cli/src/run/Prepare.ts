import type { BundleSecret } from "@coffer/client/internal/BundleClient"
import { Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { isPlacePath } from "../grammar/PlacePath.js"
import { note } from "../terminal/Print.js"
import { childEnvironment } from "./ChildEnvironment.js"
import { findExecutable } from "./Executable.js"
import { allowanceProblem, type FileAllowance } from "./FileAllowance.js"
import { sizeProblem, totalLimit } from "./Limits.js"
import type { RunArgv, RunOptions } from "./RunArgv.js"
import type { SecretFiles } from "./SecretFiles.js"
import { NotStarted, type Program } from "./Start.js"

export interface RunCommand extends Extract<RunArgv, { type: "run" }> {
  /** Descriptors above 2 to pass on. */
  readonly descriptors: ReadonlyArray<number>
  /** The values that the command gets as files. */
  readonly files: SecretFiles | undefined
}

/** Fails if there is a problem. */
export const refuse = (problem: Option.Option<string>): Effect.Effect<void, NotStarted> =>
  Option.match(problem, {
    onNone: () => Effect.void,
    onSome: (message) => Effect.fail(new NotStarted({ code: 125, message }))
  })

const commandEnvironment = Effect.fnUntraced(function* (
  secrets: ReadonlyArray<BundleSecret>,
  { allowEnv, isOverriding }: RunOptions,
  allowance: FileAllowance | undefined
) {
  const plain = secrets.map(({ key, value }) => ({ key, value: Redacted.value(value) }))
  const allowed = new Set([...allowEnv, ...(allowance?.trust === "trusted" ? allowance.keys : [])])
  const rules = { allowed, isOverriding }
  const { dangerous, env, kept, unnameable, withNul } = childEnvironment(yield* Variables, plain, rules)
  if (withNul.length > 0) {
    return yield* new NotStarted({
      code: 125,
      message: `${withNul.join(", ")}: the value holds a NUL byte, which no environment variable can; choose other keys with --only`
    })
  }
  if (unnameable.length > 0) yield* note(`left out ${unnameable.join(", ")}: no environment variable can be called so`)
  if (kept.length > 0) yield* note(`kept the inherited ${kept.join(", ")}, as --no-override says`)
  if (dangerous.length > 0) {
    const flags = dangerous.map((key) => `--allow-env ${key}`).join(" ")
    yield* note(`left out ${dangerous.join(", ")}, which can make other programs run code; to pass it on: ${flags}`)
    const keys = allowance?.keys.filter((key) => dangerous.includes(key)) ?? []
    if (allowance !== undefined && keys.length > 0) yield* note(allowanceProblem({ ...allowance, keys }))
  }
  return env
})

/** Returns a hint about a place that was taken for a command. */
const placeHint = ({ args, command }: RunCommand) => {
  if (isPlacePath(command)) return `; to name a place, write -- behind it: coffer run ${command} -- COMMAND`
  return args[0] === "--" ? `; to name the environment, write: coffer run --env ${command} -- COMMAND` : ""
}

const locate = (runCommand: RunCommand, path: string | undefined) => {
  const { command } = runCommand
  const lookup = findExecutable(command, path)
  if (lookup.type === "found") return Effect.succeed(lookup)
  return lookup.type === "not_found"
    ? Effect.fail(
        new NotStarted({ code: 127, message: `${command}: there is no such command${placeHint(runCommand)}` })
      )
    : Effect.fail(new NotStarted({ code: 126, message: `${command} cannot be executed: ${lookup.problem}` }))
}

/** Loaded lazily: most runs mask nothing. */
const maskFor = Effect.fnUntraced(function* (secrets: ReadonlyArray<BundleSecret>) {
  const { maskOf } = yield* Effect.promise(() => import("./MaskedOutput.js"))
  const mask = maskOf(secrets)
  if (mask.short.length > 0) {
    yield* note(`not masked, because the value is shorter than 4 characters: ${mask.short.join(", ")}`)
  }
  return mask
})

/** The program to start: the command, found in the PATH of its own environment, with that environment. */
export const prepare = Effect.fnUntraced(function* (
  runCommand: RunCommand,
  secrets: ReadonlyArray<BundleSecret>,
  allowance: FileAllowance | undefined
) {
  const { args, command, descriptors, files, options } = runCommand
  const plan = yield* files?.plan(secrets) ?? Effect.succeed(undefined)
  const env = yield* commandEnvironment(plan?.variables ?? secrets, options, allowance)
  const { forShell, path, sure } = yield* locate(runCommand, env["PATH"])
  yield* refuse(sizeProblem([command, ...args], env, totalLimit()))
  const mask = options.isMasking ? yield* maskFor(secrets) : undefined
  if (plan !== undefined) yield* plan.write
  const isCleanedUp = plan !== undefined || options.leases.size > 0
  const program: Program = { path, command, args, env, forShell, sure, mask, isCleanedUp, descriptors }
  return program
})
