import { readProblem } from "@coffer/client/internal/FileError"
import { BadSetting, variable, Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { WrongUsage } from "../../base/Failures.js"
import { readBytes, standardInput } from "../../terminal/Bytes.js"
import { askHidden, canAsk } from "../../terminal/Prompts.js"
import { Output } from "../../terminal/Output.js"

const rule = "a master key is 64 hexadecimal digits, as openssl rand -hex 32 makes them"

/** A master key in the form that is printed; whatever is wrong with it, it is not shown. */
const keyIn = (text: string): Option.Option<Redacted.Redacted> =>
  /^[0-9a-f]{64}$/i.test(text) ? Option.some(Redacted.make(text.toLowerCase())) : Option.none()

const oneLine = (text: string) => text.replace(/\r?\n$/, "")

/** Runs a command that prints a key. It is the server's, which is loaded for a rotation in any case. */
export type KeyFromCommand = (
  command: string,
  environment: Readonly<Record<string, string | undefined>>
) => Effect.Effect<Redacted.Redacted, { readonly message: string }>

/** The variables that give a key, as those of the server. */
const sourcesOf = (name: string) => [name, `${name}_FILE`, `${name}_COMMAND`] as const

/** The key in a variable, in the file that VARIABLE_FILE names, less one newline at its end, or of VARIABLE_COMMAND. */
const configured = Effect.fnUntraced(function* (name: string, keyFromCommand: KeyFromCommand) {
  const env = yield* Variables
  const [text, file, command] = sourcesOf(name).map((source) => variable(env, source))
  const [first, second] = sourcesOf(name).filter((source) => variable(env, source) !== undefined)
  if (first === undefined) return Option.none<Redacted.Redacted>()
  if (second !== undefined) {
    return yield* new BadSetting({ message: `${first} and ${second} are both set: unset one of them` })
  }
  if (command !== undefined) {
    const key = yield* Effect.mapError(
      keyFromCommand(command, env),
      ({ message }) => new BadSetting({ message: `${name}_COMMAND ${message}` })
    )
    return keyIn(Redacted.value(key))
  }
  const found =
    text ??
    (yield* Effect.try({
      try: () => oneLine(readFileSync(file ?? "", "utf8")),
      // The path stays out of the message: the key itself may have been put there.
      catch: (cause) =>
        new BadSetting({ message: `${name}_FILE must name a file that can be read: ${readProblem(cause)}` })
    }))
  const key = keyIn(found)
  const where = text === undefined ? `the file that ${name}_FILE names` : name
  return Option.isSome(key) ? key : yield* new BadSetting({ message: `${where} holds no master key: ${rule}` })
})

/** The key that the database is under, by SERVICE_MASTER_KEY. */
export const oldMasterKey = (keyFromCommand: KeyFromCommand) =>
  Effect.flatMap(
    configured("SERVICE_MASTER_KEY", keyFromCommand),
    Option.match({
      onNone: () =>
        new BadSetting({ message: "SERVICE_MASTER_KEY is not set: it must hold the key that is in force now" }),
      onSome: Effect.succeed
    })
  )

const noKey = new WrongUsage({ message: `what comes on standard input is no master key: ${rule}` })

const fromInput = Effect.map(readBytes(standardInput, 1000, noKey), (bytes) => oneLine(bytes.toString("latin1")))

const typed = Effect.map(askHidden("New master key: "), (answer) => Redacted.value(answer).trim())

const given = Effect.gen(function* () {
  const text = (yield* canAsk) ? yield* typed : yield* fromInput
  const key = keyIn(text)
  if (Option.isSome(key)) return key.value
  if (text !== "") return yield* noKey
  return yield* new WrongUsage({
    message: "no new key is given: set SERVICE_NEW_MASTER_KEY, write it to standard input, or add --generate"
  })
})

/** The key in a file, less one newline at its end. */
export const keyInFile = (path: string): Option.Option<Redacted.Redacted> =>
  Option.flatMap(Option.liftThrowable(() => oneLine(readFileSync(path, "utf8")))(), keyIn)

/**
 * The key to put the database under: made here, by SERVICE_NEW_MASTER_KEY, or else from standard input. `toFile`: the key
 * is written to a file, not to standard output.
 */
export const newMasterKey = Effect.fnUntraced(function* (
  generate: boolean,
  toFile: boolean,
  keyFromCommand: KeyFromCommand
) {
  const name = "SERVICE_NEW_MASTER_KEY"
  if (!generate) {
    const key = yield* configured(name, keyFromCommand)
    return Option.isSome(key) ? key.value : yield* given
  }
  const env = yield* Variables
  if (sourcesOf(name).some((source) => variable(env, source) !== undefined)) {
    return yield* new WrongUsage({ message: `--generate makes a new key, and ${name} gives one: choose one of them` })
  }
  if (!toFile && (yield* (yield* Output).isLost)) {
    return yield* new WrongUsage({
      message: "standard output is closed or /dev/null, where the new key would be lost: name a file for it with --out"
    })
  }
  return Redacted.make(randomBytes(32).toString("hex"))
})
