import { writeSync } from "node:fs"
import { splitRunArgv } from "./run/RunArgv.js"
import { catchSignals } from "./run/Signals.js"
import { clearLater, clearWord } from "./terminal/ClearClipboard.js"

const version = process.env.COFFER_VERSION ?? "0.0.0-dev"
const argv = process.argv.slice(2)

/** Starts every command without an entry of its own. Each of these is a bundle with V8's code cache: see scripts/bundle.mjs. */
const startCli = async () => {
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

/** Starts `render`, which needs the streams of its command untouched, as `run` does. */
const startRender = async (rest: ReadonlyArray<string>) => {
  const { startRender } = await import("./run/main.js")
  if (!(await startRender(rest, version))) await startCli()
}

/** Starts the command that the completion scripts call. */
const startCompletion = async (rest: ReadonlyArray<string>) => {
  const { start } = await import("./completion/main.js")
  await start(rest, version)
}

const secretNames: ReadonlySet<string | undefined> = new Set(["secret", "secrets"])
const secretCommands: ReadonlySet<string | undefined> = new Set(["get", "set", "list"])

/** The same commands without their noun. */
const dailyCommands: ReadonlySet<string | undefined> = new Set(["get", "set", "ls"])

/** Starts the most used commands at secrets, without loading the others. */
const startSecrets = async (rest: ReadonlyArray<string>) => {
  const { start } = await import("./secrets/main.js")
  if (!start(rest, version)) await startCli()
}

/** Prints the version without loading anything. Broken output ends it as `Output.ts` ends other commands. */
const printVersion = () => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(141)
    writeSync(2, "coffer: standard output cannot be written to\n")
    process.exit(1)
  })
  process.stdout.write(`${version}\n`)
}

/** No top-level `await`: the single executable runs this module as CommonJS. */
const start = async () => {
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "version")) printVersion()
  else if (argv[0] === "run") await startRun(argv.slice(1))
  else if (argv[0] === "render") await startRender(argv.slice(1))
  else if (argv[0] === "__complete") await startCompletion(argv.slice(1))
  else if (argv[0] === clearWord) clearLater()
  else if (dailyCommands.has(argv[0])) await startSecrets(argv)
  else if (secretNames.has(argv[0]) && secretCommands.has(argv[1])) await startSecrets(argv.slice(1))
  else await startCli()
}

void start()
