import { constants } from "node:os"

/**
 * The command line of `coffer run`. The first argument that is not an option of `run` starts the command; nothing after it
 * is parsed. Imports no other module, so that `run` starts fast.
 */
export type RunArgv =
  | {
      readonly type: "run"
      readonly options: RunOptions
      readonly command: string
      readonly args: ReadonlyArray<string>
    }
  | { readonly type: "help" }
  | { readonly type: "wrong"; readonly message: string }

/** The options of `run`. Times are in milliseconds. */
export interface RunOptions {
  readonly serverUrl: string | undefined
  readonly org: string | undefined
  readonly project: string | undefined
  readonly env: string | undefined
  readonly only: ReadonlyArray<string>
  readonly allowEnv: ReadonlyArray<string>
  /** Follow changes of the environment. */
  readonly watch: WatchOptions | undefined
  /** Keep a copy of the secrets, and use it if the server is unreachable. */
  readonly offline: { readonly maxAge: number } | undefined
}

export interface WatchOptions {
  readonly interval: number
  readonly stopSignal: NodeJS.Signals
  readonly stopTimeout: number
  /** The signal to send instead of a restart. */
  readonly signal: NodeJS.Signals | undefined
}

/** The options of `run` that take a value. */
export const runOptions = {
  "server-url": "The server's address",
  org: "The organization",
  project: "The project",
  env: "The environment",
  only: "Only these keys, separated by commas",
  "allow-env": "Pass on this key although its name makes other programs run code; may be given again",
  "watch-interval": "How often --watch asks for changes (5s)",
  "stop-signal": "What --watch ends the command with (TERM)",
  "stop-timeout": "How long the command may take to end before --watch kills it (10s)",
  signal: "What --watch sends to the command instead of starting it again, such as HUP",
  "offline-max-age": "How old the copy of --offline-fallback may be (24h)"
} as const

/** The options of `run` without a value. */
export const runFlags = {
  watch: "Start the command again when the environment has changed",
  "offline-fallback": "Keep an encrypted copy of the secrets, and use it when the server cannot be reached"
} as const

type Name = keyof typeof runOptions
type Flag = keyof typeof runFlags

const isName = (text: string): text is Name => Object.hasOwn(runOptions, text)
const isFlag = (text: string): text is Flag => Object.hasOwn(runFlags, text)

/** Whether a word is an option of `run`, so that it is no other option's value. */
const isOption = (word: string) =>
  word === "--" || (/^--[^=]+$/.test(word) && (isName(word.slice(2)) || isFlag(word.slice(2))))

const lists = new Set<Name>(["only", "allow-env"])

const ofWatch = ["watch-interval", "stop-signal", "stop-timeout", "signal"] as const

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a time such as `500ms`, `5s`, `10m`, `24h` or `7d` to milliseconds; a number alone is seconds. */
const parseSpan = (text: string): number | undefined => {
  const [, digits, unit = "s"] = /^([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|d)?$/.exec(text) ?? []
  const scale = units[unit]
  return digits === undefined || scale === undefined ? undefined : Number(digits) * scale
}

const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name)

const parseSignal = (text: string): NodeJS.Signals | undefined => {
  const name = `SIG${text.toUpperCase().replace(/^SIG/, "")}`
  return isSignal(name) ? name : undefined
}

type Found = ReadonlyMap<Name, ReadonlyArray<string>>

/** Reads the values of the options. Returns a message if one is not valid. */
const readOptions = (found: Found, flags: ReadonlySet<Flag>): RunOptions | string => {
  const one = (name: Name) => found.get(name)?.[0]
  const list = (name: Name) => (found.get(name) ?? []).flatMap((text) => text.split(","))
  const span = (name: Name, otherwise: string, least: number) => {
    const parsed = parseSpan(one(name) ?? otherwise)
    return parsed !== undefined && parsed >= least ? parsed : undefined
  }
  const interval = span("watch-interval", "5s", 100)
  if (interval === undefined) return "--watch-interval takes a time of at least 100ms, such as 5s or 1m"
  const stopTimeout = span("stop-timeout", "10s", 0)
  if (stopTimeout === undefined) return "--stop-timeout takes a time, such as 10s or 2m"
  const maxAge = span("offline-max-age", "24h", 1000)
  if (maxAge === undefined) return "--offline-max-age takes a time, such as 12h or 7d"
  const stopSignal = parseSignal(one("stop-signal") ?? "TERM")
  if (stopSignal === undefined) return "--stop-signal takes the name of a signal, such as TERM or INT"
  const signalName = one("signal")
  const signal = signalName === undefined ? undefined : parseSignal(signalName)
  if (signalName !== undefined && signal === undefined) return "--signal takes the name of a signal, such as HUP"
  const alone = ofWatch.find((name) => found.has(name))
  if (alone !== undefined && !flags.has("watch")) return `--${alone} says how --watch works: give --watch too`
  if (found.has("offline-max-age") && !flags.has("offline-fallback"))
    return "--offline-max-age says how --offline-fallback works: give --offline-fallback too"
  return {
    serverUrl: one("server-url"),
    org: one("org"),
    project: one("project"),
    env: one("env"),
    only: list("only"),
    allowEnv: list("allow-env"),
    watch: flags.has("watch") ? { interval, stopSignal, stopTimeout, signal } : undefined,
    offline: flags.has("offline-fallback") ? { maxAge } : undefined
  }
}

/** @param argv the arguments after `run`. */
export const splitRunArgv = (argv: ReadonlyArray<string>): RunArgv => {
  const wrong = (message: string): RunArgv => ({ type: "wrong", message })
  const found = new Map<Name, Array<string>>()
  const flags = new Set<Flag>()
  const result = (rest: ReadonlyArray<string>): RunArgv => {
    const [command, ...args] = rest
    if (command === undefined)
      return wrong("no command is given: write it behind the options, as in: coffer run -- npm start")
    const options = readOptions(found, flags)
    return typeof options === "string" ? wrong(options) : { type: "run", options, command, args }
  }
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ""
    if (argument === "--") return result(argv.slice(index + 1))
    if (!argument.startsWith("-") || argument === "-") return result(argv.slice(index))
    if (argument === "--help" || argument === "-h") return { type: "help" }
    const [option = "", ...inline] = argument.split("=")
    const name = option.slice(2)
    if (option.startsWith("--") && isFlag(name)) {
      if (inline.length > 0) return wrong(`--${name} takes no value`)
      flags.add(name)
      continue
    }
    if (!option.startsWith("--") || !isName(name)) {
      return wrong(`${option} is not an option of coffer run; if it is the command, write -- before it`)
    }
    const value = inline.length > 0 ? inline.join("=") : argv[++index]
    if (value === undefined || value === "") return wrong(`--${name} needs a value`)
    if (inline.length === 0 && isOption(value)) {
      return wrong(
        `--${name} needs a value, and ${value} is an option; for a value that looks like one, write --${name}=VALUE`
      )
    }
    const values = found.get(name) ?? []
    if (values.length > 0 && !lists.has(name)) return wrong(`--${name} is given twice`)
    found.set(name, [...values, value])
  }
  return result([])
}
