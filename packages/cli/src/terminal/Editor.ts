import { readProblem, writeProblem } from "@coffer/client/internal/FileError"
import { variable, Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CannotDo } from "../base/Failures.js"
import { guardSignals } from "./GuardedSignals.js"
import { makePrivateFolder, removePrivateFolder } from "./PrivateFolder.js"

type Environment = Readonly<Record<string, string | undefined>>

/** The person's editor, as a command of the shell. */
const editorOf = (env: Environment): string => variable(env, "VISUAL") ?? variable(env, "EDITOR") ?? "vi"

/** Starts the editor in place of the shell, so that a signal reaches it, unless the command is more than a program with options. */
const start = (command: string, path: string) => {
  if (process.platform === "win32") return spawn(`${command} "${path}"`, { stdio: "inherit", shell: true })
  const exec = /[=;&|()<>]/.test(command) ? "" : "exec "
  return spawn("/bin/sh", ["-c", `${exec}${command} "$@"`, command, path], { stdio: "inherit" })
}

/** Runs the editor. SIGHUP, and an interruption by SIGTERM, end it. */
const runEditor = (command: string, path: string): Effect.Effect<void, CannotDo> =>
  Effect.async((resume) => {
    const child = start(command, path)
    const fail = (how: string) => {
      const message = `the editor ${command} ${how}, and nothing was written; VISUAL or EDITOR can name another one`
      resume(Effect.fail(new CannotDo({ message })))
    }
    const hangUp = () => resume(Effect.interrupt)
    process.on("SIGHUP", hangUp)
    child.once("error", () => fail("does not start"))
    child.once("close", (code, signal) => {
      if (code === 0) resume(Effect.void)
      else fail(signal === null ? `ended with exit code ${String(code)}` : `was ended by ${signal}`)
    })
    return Effect.sync(() => {
      process.off("SIGHUP", hangUp)
      child.kill()
    })
  })

/**
 * Has a person edit a text, which is in a file for as long as the editor runs. The file is overwritten and removed however
 * that ends.
 *
 * @param name the file's name, by which editors know its format.
 */
export const editText = (name: string, text: Redacted.Redacted): Effect.Effect<Redacted.Redacted, CannotDo> =>
  Effect.flatMap(Variables, (env) =>
    Effect.acquireUseRelease(
      Effect.map(makePrivateFolder("edit"), (folder) => {
        const restore = guardSignals()
        const remove = () => removePrivateFolder(folder)
        // The process may end without ending this effect.
        process.once("exit", remove)
        return { folder, remove, restore }
      }),
      ({ folder }) =>
        Effect.gen(function* () {
          const path = join(folder, name)
          yield* Effect.try({
            try: () => writeFileSync(path, Redacted.value(text), { mode: 0o600, flag: "wx" }),
            catch: (cause) => new CannotDo({ message: `${path} cannot be written: ${writeProblem(cause)}` })
          })
          yield* runEditor(editorOf(env), path)
          const bytes = yield* Effect.try({
            try: () => readFileSync(path),
            catch: (cause) =>
              new CannotDo({
                message: `the edited file cannot be read: ${readProblem(cause)}; nothing was written`
              })
          })
          return yield* Effect.try({
            try: () => Redacted.make(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
            catch: () => new CannotDo({ message: "the edited file is not UTF-8 text, and nothing was written" })
          })
        }),
      ({ remove, restore }) =>
        Effect.sync(() => {
          process.off("exit", remove)
          remove()
          restore()
        })
    )
  )
