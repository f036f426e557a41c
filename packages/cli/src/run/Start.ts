import { readProblem } from "@coffer/client/internal/FileError"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Readable } from "node:stream"
import { missingInterpreter, shell } from "./Executable.js"
import type { Copying, Mask } from "./MaskedOutput.js"
import type { Outcome, Signals } from "./Signals.js"
import { inForeground } from "./TerminalGroup.js"

/** The command did not start. */
export class NotStarted extends Data.TaggedError("NotStarted")<{
  readonly code: 125 | 126 | 127
  readonly message: string
}> {}

export interface Program {
  readonly path: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly forShell: boolean
  readonly sure: boolean
  /** The mask for the output. Undefined if the command has the streams of this process. */
  readonly mask: Mask | undefined
  /** Whether files have to be removed, or leases ended, after the command. */
  readonly isCleanedUp: boolean
  /** Descriptors above 2 to pass on: `execve` of Node closes them, `spawn` can keep them. */
  readonly descriptors: ReadonlyArray<number>
}

/** Returns the file and the arguments for the kernel. A file that does not declare its format goes to the shell. */
const invocation = ({ args, command, forShell, path }: Program) =>
  forShell ? { file: shell, argv: [shell, path, ...args] } : { file: path, argv: [command, ...args] }

const ignore = () => undefined

/**
 * Calls back right after the event loop has looked for signals: those that have arrived end the client, and from then on
 * the kernel does. Some turns go by first, so that the last one has nothing else to do that would take its time.
 */
const afterTurns = (turns: number, callback: () => void): void => {
  setImmediate(() => (turns > 1 ? afterTurns(turns - 1, callback) : callback()))
}

/** Has the compiled code stored, as an exit does, which `execve` is not: see scripts/code/files.mjs. */
const storeCompiledCode = () => process.emit("exit", 0)

/** Becomes the command. Comes back only where Node cannot do that (before 22.15) or will not. */
const become = (program: Program, signals: Signals): Effect.Effect<void> =>
  Effect.gen(function* () {
    // Not in the type definitions of the oldest Node that is supported.
    const execve: unknown = Predicate.hasProperty(process, "execve") ? process.execve : undefined
    const isBeside = program.mask !== undefined || program.descriptors.length > 0 || program.isCleanedUp
    if (!program.sure || isBeside || typeof execve !== "function") return
    const { argv, file } = invocation(program)
    storeCompiledCode()
    yield* Effect.async<void>((resume) => {
      afterTurns(5, () => {
        signals.release()
        resume(Effect.void)
      })
    })
    yield* Effect.ignore(
      Effect.try(() => {
        // Node ignores these two, and what is ignored stays so in the command; what is caught does not.
        process.on("SIGPIPE", ignore)
        process.on("SIGXFSZ", ignore)
        Reflect.apply(execve, process, [file, argv, program.env])
      })
    )
  })

const failure = ({ command, path }: Program, cause: unknown): NotStarted => {
  const code = Predicate.hasProperty(cause, "code") ? cause.code : undefined
  const missing = missingInterpreter(path)
  if (code === "ENOENT" && missing !== undefined) {
    return new NotStarted({
      code: 126,
      message: `${command} cannot be executed: ${missing}, which runs it, does not exist`
    })
  }
  if (code === "ENOENT") return new NotStarted({ code: 127, message: `${command} no longer exists` })
  if (code === "E2BIG") {
    return new NotStarted({ code: 125, message: "arguments and environment are larger than the system allows" })
  }
  return new NotStarted({ code: 126, message: `${command} cannot be executed: ${readProblem(cause)}` })
}

/** Copies an output, with its secrets masked. */
const copyMasked = ({ mask }: Program, from: Readable | null, descriptor: 1 | 2): ReadonlyArray<Copying> =>
  mask === undefined || from === null ? [] : [mask.copy(from, descriptor === 1 ? process.stdout : process.stderr)]

/** The streams of the command: those of this process, and the descriptors that it was started with. */
const streamsOf = ({ descriptors, mask }: Program) => {
  const output = mask === undefined ? "inherit" : "pipe"
  const last = descriptors.at(-1) ?? 2
  const further = Array.from({ length: last - 2 }, (_, index) =>
    descriptors.includes(index + 3) ? index + 3 : "ignore"
  )
  return ["inherit", output, output, ...further] as const
}

/** Signals that ask a program to end. */
export const endingSignals: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])

/** A command that runs beside this process. */
export interface Child {
  /**
   * Sends it a signal. Where it has ended or ends by it, a signal that ends programs also ends the wait for others that hold
   * its masked output open.
   */
  readonly kill: (signal: NodeJS.Signals) => void
  /** Passes on a signal that came to this process, unless the kernel has done so. */
  readonly forward: (signal: NodeJS.Signals) => void
  readonly ended: Effect.Effect<Outcome, NotStarted>
}

/** Starts the command beside this process, on the same streams unless its output is masked. */
export const startBeside = Effect.fnUntraced(function* (program: Program) {
  const end = yield* Deferred.make<Outcome, NotStarted>()
  const running = yield* Effect.try({
    try: () => {
      const { argv, file } = invocation(program)
      const [argv0 = file, ...args] = argv
      // Not imported: a client that becomes the command has no use for it.
      const { spawn } = process.getBuiltinModule("node:child_process")
      return spawn(file, args, { argv0, env: program.env, stdio: [...streamsOf(program)] })
    },
    catch: (cause) => failure(program, cause)
  })
  running.once("error", (cause) => Deferred.unsafeDone(end, Effect.fail(failure(program, cause))))
  const copies = [...copyMasked(program, running.stdout, 1), ...copyMasked(program, running.stderr, 2)]
  let asked = false
  let exited = false
  const letGo = () => copies.forEach((copy) => copy.letGo())
  running.once("exit", (code, signal) => {
    exited = true
    if (asked) letGo()
    const outcome: Outcome = signal === null ? { type: "exit", code: code ?? 1 } : { type: "signal", signal }
    void Promise.all(copies.map((copy) => copy.done)).then(() => Deferred.unsafeDone(end, Effect.succeed(outcome)))
  })
  const ask = (signal: NodeJS.Signals) => {
    if (signal !== "SIGKILL" && !endingSignals.has(signal)) return
    asked = true
    if (exited) letGo()
  }
  const child: Child = {
    kill: (signal) => {
      ask(signal)
      running.kill(signal)
    },
    forward: (signal) => {
      ask(signal)
      if (!isToldByKernel(signal)) running.kill(signal)
    },
    ended: Deferred.await(end)
  }
  return child
})

/** Whether the kernel has sent this signal to the command itself: INT and QUIT come from the terminal too, to both. */
const isToldByKernel = (signal: NodeJS.Signals): boolean =>
  (signal === "SIGINT" || signal === "SIGQUIT") && inForeground()

/** Starts the command beside this process, and waits for its end. */
const spawned = Effect.fnUntraced(function* (program: Program, signals: Signals) {
  const child = yield* startBeside(program)
  signals.giveTo(child.forward)
  return yield* child.ended
})

/** Runs the command in place of this process if possible, else beside it. Returns how it ended. */
export const start = (program: Program, signals: Signals): Effect.Effect<Outcome, NotStarted> =>
  Effect.zipRight(become(program, signals), spawned(program, signals))
