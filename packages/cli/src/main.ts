import { splitRunArgv } from "./run/RunArgv.js"
import { catchSignals } from "./run/Signals.js"
import { keepBlocking } from "./run/Streams.js"

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"
const argv = process.argv.slice(2)

/** Everything but `run`. Both are bundles of their own, with V8's code cache: see scripts/bundle.mjs. */
const startCli = async () => {
  // A reader that has seen enough, such as `head`, is no error to report: the code is that of a death by SIGPIPE.
  process.stdout.on("error", () => process.exit(141))
  const { start } = await import("./Cli.js")
  start(argv, version)
}

/** `run` loads nothing that the other commands need. */
const startRun = async (rest: ReadonlyArray<string>) => {
  const command = splitRunArgv(rest)
  if (command.type === "help") return startCli()
  if (command.type === "wrong") {
    process.stderr.write(`coffer: ${command.message}\n`)
    process.exit(125)
  }
  const signals = catchSignals()
  keepBlocking()
  const { start } = await import("./run/main.js")
  await start(command, version, signals)
}

if (argv.length === 1 && argv[0] === "--version") process.stdout.write(`${version}\n`)
else if (argv[0] === "run") await startRun(argv.slice(1))
else await startCli()
