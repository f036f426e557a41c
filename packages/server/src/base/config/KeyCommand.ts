import { type ChildProcess, spawn } from "node:child_process"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Environment } from "./Variables.js"

const seconds = 10
/** More than a key with a line's end needs. */
const maxBytes = 1024

/** Why a command gave no master key. Completes a sentence that begins with the name of its variable, and has nothing of the output. */
export class KeyCommandFailed extends Data.TaggedError("KeyCommandFailed")<{
  readonly reason: "form" | "notFound" | "notRun" | "late" | "long" | "empty" | "malformed" | "exit"
  readonly message: string
}> {}

const failed = (reason: KeyCommandFailed["reason"], message: string) => new KeyCommandFailed({ reason, message })

/** No system call takes a zero byte. */
const Word = Schema.String.pipe(Schema.pattern(/^[^\0]*$/))
const Words = Schema.parseJson(Schema.Tuple([Word.pipe(Schema.nonEmptyString())], Word))

/** Settings of the server and its clients, which include its secrets. A key service needs none of them. */
const own = /^(?:SERVICE|BACKUP|SMTP|SUPERADMIN|CORS)_|^OTEL_EXPORTER_OTLP_HEADERS$/

/** Ends a command and its children, which are a process group of their own. */
const kill = ({ pid }: ChildProcess): void => {
  Either.try(() => pid !== undefined && process.kill(-pid, "SIGKILL"))
}

const notStarted = (error: unknown) =>
  Predicate.hasProperty(error, "code") && error.code === "ENOENT"
    ? failed("notFound", "names a program that was not found")
    : failed(
        "notRun",
        `names a program that cannot be run (${Predicate.hasProperty(error, "code") ? String(error.code) : "unknown reason"})`
      )

const keyIn = (output: Buffer): Effect.Effect<Redacted.Redacted, KeyCommandFailed> => {
  const text = output.toString("latin1").replace(/\r?\n$/, "")
  if (text === "") return failed("empty", "names a program that printed nothing")
  return /^[0-9a-fA-F]{64}$/.test(text)
    ? Effect.succeed(Redacted.make(text))
    : failed("malformed", "names a program that printed something else than 64 hexadecimal digits")
}

const run = ([program, ...words]: typeof Words.Type, environment: Environment) =>
  Effect.async<Buffer, KeyCommandFailed>((resume) => {
    const child = spawn(program, words, {
      env: Record.filter(environment, (_, name) => !own.test(name)),
      stdio: ["ignore", "pipe", "ignore"],
      shell: false,
      detached: true
    })
    const chunks: Array<Buffer> = []
    let bytes = 0
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) {
        chunks.push(chunk)
        return
      }
      kill(child)
      resume(failed("long", `names a program that printed more than ${maxBytes} bytes: it must print the key alone`))
    })
    child.once("error", (error) => {
      resume(notStarted(error))
    })
    child.once("close", (code, signal) => {
      resume(
        code === 0
          ? Effect.succeed(Buffer.concat(chunks))
          : failed("exit", `names a program that ended with ${signal === null ? `the exit code ${code}` : signal}`)
      )
    })
    return Effect.sync(() => {
      kill(child)
    })
  })

/**
 * Runs a command that prints a master key: a JSON array of a program and its arguments, without a shell. It has ten seconds. Its
 * standard error is dropped, because a program may print what it decrypts.
 */
export const keyFromCommand = (
  command: string,
  environment: Environment
): Effect.Effect<Redacted.Redacted, KeyCommandFailed> =>
  Schema.decode(Words)(command).pipe(
    Effect.mapError(() =>
      failed(
        "form",
        'must be a JSON array of a program and its arguments, such as ["op","read","op://vault/coffer/key"]'
      )
    ),
    Effect.flatMap((words) => run(words, environment)),
    Effect.timeoutFail({
      duration: `${seconds} seconds`,
      onTimeout: () => failed("late", `names a program that did not end within ${seconds} seconds, and was killed`)
    }),
    Effect.flatMap(keyIn)
  )
