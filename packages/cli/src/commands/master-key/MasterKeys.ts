import { codeOf } from "@coffer/client/internal/FileError"
import { BadSetting, variable, Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { WrongUsage } from "../../Failures.js"
import { readBytes, standardInput } from "../../terminal/Bytes.js"
import { askHidden, canAsk } from "../../terminal/Prompts.js"
import { Output } from "../../terminal/Output.js"

const rule = "a master key is 64 hexadecimal digits, as openssl rand -hex 32 makes them"

/** A master key in the form that is printed; whatever is wrong with it, it is not shown. */
const keyIn = (text: string): Option.Option<Redacted.Redacted> =>
  /^[0-9a-f]{64}$/i.test(text) ? Option.some(Redacted.make(text.toLowerCase())) : Option.none()

const oneLine = (text: string) => text.replace(/\r?\n$/, "")

/** The key in a variable, or in the file that VARIABLE_FILE names, less one newline at its end. */
const configured = Effect.fnUntraced(function* (name: string) {
  const env = yield* Variables
  const text = variable(env, name)
  const file = variable(env, `${name}_FILE`)
  if (text !== undefined && file !== undefined) {
    return yield* new BadSetting({ message: `${name} and ${name}_FILE are both set: unset one of them` })
  }
  if (text === undefined && file === undefined) return Option.none<Redacted.Redacted>()
  const found =
    text ??
    (yield* Effect.try({
      try: () => oneLine(readFileSync(file ?? "", "utf8")),
      // The path stays out of the message: the key itself may have been put there.
      catch: (cause) => new BadSetting({ message: `${name}_FILE must name a file that can be read (${codeOf(cause)})` })
    }))
  const key = keyIn(found)
  const where = text === undefined ? `the file that ${name}_FILE names` : name
  return Option.isSome(key) ? key : yield* new BadSetting({ message: `${where} holds no master key: ${rule}` })
})

/** The key that the database is under, by SERVICE_MASTER_KEY. */
export const oldMasterKey = Effect.flatMap(
  configured("SERVICE_MASTER_KEY"),
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
export const newMasterKey = Effect.fnUntraced(function* (generate: boolean, toFile: boolean) {
  const name = "SERVICE_NEW_MASTER_KEY"
  if (!generate) {
    const key = yield* configured(name)
    return Option.isSome(key) ? key.value : yield* given
  }
  const env = yield* Variables
  if (variable(env, name) !== undefined || variable(env, `${name}_FILE`) !== undefined) {
    return yield* new WrongUsage({ message: `--generate makes a new key, and ${name} gives one: choose one of them` })
  }
  if (!toFile && (yield* (yield* Output).isLost)) {
    return yield* new WrongUsage({
      message: "standard output is closed or /dev/null, where the new key would be lost: name a file for it with --out"
    })
  }
  return Redacted.make(randomBytes(32).toString("hex"))
})
