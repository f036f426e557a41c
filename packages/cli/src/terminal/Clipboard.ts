import { variable, Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { CannotDo } from "../base/Failures.js"
import { type ClearOrder, clearWord, digestOf, type Program, writeOrder } from "./ClearClipboard.js"

interface Clipboard {
  readonly write: Program
  readonly read: Program
  /** Gets no input. */
  readonly clear: Program
  /** Whether the program that writes takes UTF-16, as that of Windows does. */
  readonly isUtf16?: boolean
}

const wayland: Clipboard = {
  write: ["wl-copy"],
  read: ["wl-paste", "--no-newline"],
  clear: ["wl-copy", "--clear"]
}

const xclip: Clipboard = {
  write: ["xclip", "-selection", "clipboard"],
  read: ["xclip", "-selection", "clipboard", "-out"],
  clear: ["xclip", "-selection", "clipboard"]
}

const xsel: Clipboard = {
  write: ["xsel", "--clipboard", "--input"],
  read: ["xsel", "--clipboard", "--output"],
  clear: ["xsel", "--clipboard", "--clear"]
}

const macos: Clipboard = { write: ["pbcopy"], read: ["pbpaste"], clear: ["pbcopy"] }

const windows: Clipboard = {
  write: ["clip.exe"],
  read: ["powershell.exe", "-NoProfile", "-Command", "Get-Clipboard -Raw"],
  clear: ["clip.exe"],
  isUtf16: true
}

type Environment = Readonly<Record<string, string | undefined>>

const canRun = Option.liftThrowable((path: string) => accessSync(path, constants.X_OK))

const isProgram = (env: Environment, file: string): boolean =>
  (env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && Option.isSome(canRun(join(folder, file))))

/** The clipboards that this system may have, the likeliest first. */
const candidates = (env: Environment, platform: NodeJS.Platform): ReadonlyArray<Clipboard> => {
  if (platform === "darwin") return [macos]
  if (platform === "win32") return [windows]
  return [
    ...(variable(env, "WAYLAND_DISPLAY") === undefined ? [] : [wayland]),
    ...(variable(env, "DISPLAY") === undefined ? [] : [xclip, xsel]),
    ...(variable(env, "WSL_DISTRO_NAME") === undefined ? [] : [windows])
  ]
}

const findClipboard = Effect.flatMap(Variables, (env) => {
  const possible = candidates(env, process.platform)
  const found = possible.find(({ write: [file] }) => isProgram(env, file))
  if (found !== undefined) return Effect.succeed(found)
  return new CannotDo({
    message:
      possible.length === 0
        ? "there is no clipboard here, because this machine has no display; without --clip, the value is printed"
        : `no program for the clipboard is installed: install ${possible.map(({ write: [file] }) => file).join(" or ")}`
  })
})

/** Runs a program with an input. It may go on in the background, as those that serve a clipboard do. */
const feed = ([file, ...args]: Program, input: Buffer): Effect.Effect<void, CannotDo> =>
  Effect.async((resume) => {
    const fail = (why: string) => resume(new CannotDo({ message: `${file} cannot write to the clipboard: ${why}` }))
    const child = spawn(file, args, { stdio: ["pipe", "ignore", "ignore"] })
    child.once("error", ({ message }) => fail(message))
    child.once("exit", (code) => (code === 0 ? resume(Effect.void) : fail(`it ended with ${code ?? "a signal"}`)))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })

/** This program, as another process starts it. The single executable is one file. */
const ownProgram = (): Program => {
  const isOneFile = process.getBuiltinModule("node:sea").isSea()
  return [process.execPath, ...(isOneFile ? [] : process.argv.slice(1, 2))]
}

/** Starts the process that clears. It has a session of its own, so that it outlives the terminal too. */
const startClearing = (order: ClearOrder): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const [file, ...args] = ownProgram()
    const child = spawn(file, [...args, clearWord], { stdio: ["pipe", "ignore", "ignore"], detached: true })
    child.once("error", () => resume(Effect.succeed(false)))
    child.stdin.on("error", () => {})
    child.stdin.end(writeOrder(order), () => resume(Effect.succeed(true)))
    child.unref()
  })

/** How long a value stays, in seconds. */
const seconds = 30

/** Writes a value to the clipboard, and clears it after a while. Returns a sentence that says so. */
export const toClipboard = Effect.fnUntraced(function* (name: string, value: string) {
  const { clear, isUtf16 = false, read, write } = yield* findClipboard
  yield* feed(write, isUtf16 ? Buffer.from(`\ufeff${value}`, "utf16le") : Buffer.from(value))
  const salt = randomBytes(16).toString("hex")
  const isCleared = yield* startClearing({ salt, digest: digestOf(salt, value), read, clear, millis: seconds * 1_000 })
  return isCleared
    ? `${name} is in the clipboard for ${seconds} s, unless something else is copied before`
    : `${name} is in the clipboard, and stays there: nothing could be started that clears it`
})
