import { writeSync } from "node:fs"
import { splitRunArgv } from "./run/RunArgv.js"
import { catchSignals, dieOf } from "./run/Signals.js"

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"
const argv = process.argv.slice(2)

/** Everything but `run`. */
const startCli = async () => {
  // A reader that has seen enough, such as `head`, is no error to report: the code is that of a death by SIGPIPE.
  process.stdout.on("error", () => process.exit(141))
  const { runMain } = await import("@effect/platform-node/NodeRuntime")
  const { cli, teardown } = await import("./Cli.js")
  runMain(cli(argv, version), { disableErrorReporting: true, teardown })
}

/**
 * Puts plain writers in the place of the standard streams. Node's own make a pipe non-blocking at the first look, for
 * everyone who shares it, the command too; and libraries look when they are loaded.
 */
const keepBlocking = () => {
  for (const [name, descriptor] of [
    ["stdout", 1],
    ["stderr", 2]
  ] as const) {
    const value = { isTTY: false, write: (text: string) => writeSync(descriptor, text) > 0 }
    Object.defineProperty(process, name, { value })
  }
}

/** `run` goes its own way: its arguments are not for a parser, and it loads nothing that it does not need. */
const startRun = async (rest: ReadonlyArray<string>) => {
  const command = splitRunArgv(rest)
  if (command.type === "help") return startCli()
  if (command.type === "wrong") {
    process.stderr.write(`coffer: ${command.message}\n`)
    process.exit(125)
  }
  const signals = catchSignals()
  keepBlocking()
  const { runPromise } = await import("effect/Effect")
  const { run } = await import("./Run.js")
  const outcome = await runPromise(run(command, version, signals))
  if (outcome.type === "signal") return dieOf(outcome.signal)
  process.exit(outcome.code)
}

if (argv.length === 1 && argv[0] === "--version") process.stdout.write(`${version}\n`)
else if (argv[0] === "run") await startRun(argv.slice(1))
else await startCli()
