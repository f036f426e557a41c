import { writeSync } from "node:fs"
import { splitRunArgv } from "./run/RunArgv.js"
import { catchSignals } from "./run/Signals.js"

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"
const argv = process.argv.slice(2)

/** Starts every command but `run`. Each of the two is a bundle with V8's code cache: see scripts/bundle.mjs. */
const startCli = async () => {
  // A reader such as `head` may stop early. That is no error: the exit code is that of a death by SIGPIPE.
  process.stdout.on("error", () => process.exit(141))
  const { start } = await import("./Cli.js")
  start(argv, version)
}

/** Starts `run`, without loading the other commands. */
const startRun = async (rest: ReadonlyArray<string>) => {
  const command = splitRunArgv(rest)
  if (command.type === "help") return startCli()
  if (command.type === "wrong") {
    writeSync(2, `coffer: ${command.message}\n`)
    process.exit(125)
  }
  const signals = catchSignals()
  const { start } = await import("./run/main.js")
  await start(command, version, signals)
}

/** No top-level `await`: the single executable runs this module as CommonJS. */
const start = async () => {
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "version")) process.stdout.write(`${version}\n`)
  else if (argv[0] === "run") await startRun(argv.slice(1))
  else await startCli()
}

void start()
