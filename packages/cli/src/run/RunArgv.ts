import { isLeaseName } from "@coffer/client/internal/ServiceFileKeys"
import { leaseRoleNameForm, secretKeyForm } from "@coffer/domain/base/NameForms"
import { spanOrSecondsMillis } from "@coffer/domain/base/Span"
import { constants } from "node:os"
import { isPlacePath } from "../grammar/PlacePath.js"
import { type Reading, readWords, type Words } from "../grammar/Words.js"
import { runSyntax } from "./RunOptions.js"

/**
 * The command line of `coffer run`. The first argument that is not an option of `run` starts the command, unless it is a
 * place before `--`; nothing after it is parsed. Imports little, so that `run` starts fast.
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
  /** Further places: the values of later ones win. */
  readonly also: ReadonlyArray<string>
  readonly only: ReadonlyArray<string>
  readonly allowEnv: ReadonlyArray<string>
  /** The roles of leased users, by the names of their variables. */
  readonly leases: ReadonlyMap<string, string>
  /** The values that the command gets as files. */
  readonly files: FileOptions | undefined
  /** Whether secrets go before inherited variables. */
  readonly isOverriding: boolean
  /** Whether the values are masked in the command's output. */
  readonly isMasking: boolean
  /** Whether the environment has to have what the project declares. */
  readonly isChecking: boolean
  /** Whether nothing is written but why the command did not start. */
  readonly isQuiet: boolean
  /** Whether no session is taken. */
  readonly isNonInteractive: boolean
  /** Follow changes of the environment. */
  readonly watch: WatchOptions | undefined
  /** Keep a copy of the secrets, and use it if the server is unreachable. */
  readonly offline: { readonly maxAge: number } | undefined
}

/** Paths in the private folder of a command. */
export interface FileOptions {
  readonly paths: ReadonlyMap<string, string>
  /** The directory of the files of all other keys; "." for the folder itself. */
  readonly directory: string | undefined
}

export interface WatchOptions {
  readonly interval: number
  readonly stopSignal: NodeJS.Signals
  readonly stopTimeout: number
  /** The signal to send instead of a restart. */
  readonly signal: NodeJS.Signals | undefined
}

/** Options that say how another one works. */
const parts = {
  watch: ["watch-interval", "stop-signal", "stop-timeout", "signal"],
  "offline-fallback": ["offline-max-age"]
} as const

const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name)

export const parseSignal = (text: string): NodeJS.Signals | undefined => {
  const name = `SIG${text.toUpperCase().replace(/^SIG/, "")}`
  return isSignal(name) ? name : undefined
}

/** Whether a path stays below the folder that it is relative to. */
const isBelow = (path: string): boolean => path.split("/").every((part) => !["", ".", ".."].includes(part))

const pathExample = "a path without .. that does not begin with /, as in"

/** Reads `--file` and `--files`. Returns a message if one is not valid. */
const readFiles = (found: Words["options"]): FileOptions | undefined | string => {
  const paths = new Map<string, string>()
  for (const text of found.get("file") ?? []) {
    const [, key = "", path = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? []
    if (!secretKeyForm.is(key) || !isBelow(path)) return `--file takes a key and ${pathExample} TLS_KEY=tls/key.pem`
    if (paths.has(key)) return `--file names ${key} twice`
    paths.set(key, path)
  }
  const directory = found.get("files")?.[0]
  if (directory !== undefined && directory !== "." && !isBelow(directory)) {
    return `--files takes ${pathExample} secrets; . is the private folder itself`
  }
  return paths.size === 0 && directory === undefined ? undefined : { paths, directory }
}

/** Reads `--lease`. Returns a message if one is not valid. */
const readLeases = (found: Words["options"]): ReadonlyMap<string, string> | string => {
  const leases = new Map<string, string>()
  for (const text of found.get("lease") ?? []) {
    const [, name = "", role = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? []
    if (!isLeaseName(name) || !leaseRoleNameForm.is(role))
      return "--lease takes the name of variables and a role, as in DB=app-role"
    if (leases.has(name)) return `--lease names ${name} twice`
    leases.set(name, role)
  }
  return leases
}

/** Reads the values of the options. Returns a message if one is not valid. */
const readOptions = (found: Words["options"]): RunOptions | string => {
  const one = (name: string) => found.get(name)?.[0]
  const list = (name: string) => (found.get(name) ?? []).flatMap((text) => text.split(","))
  const span = (name: string, otherwise: string, least: number) => {
    const parsed = spanOrSecondsMillis(one(name) ?? otherwise)
    return parsed >= least ? parsed : undefined
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
  const files = readFiles(found)
  if (typeof files === "string") return files
  const leases = readLeases(found)
  if (typeof leases === "string") return leases
  if (leases.size > 0 && signal !== undefined) {
    return "--signal does not give the command another lease: leave it out, so that --watch starts the command again"
  }
  if (found.has("also") && found.has("only")) {
    return "--only names keys of one place: leave it out, or give no --also"
  }
  for (const [whole, names] of Object.entries(parts)) {
    const part = names.find((name) => found.has(name))
    if (part !== undefined && !found.has(whole)) return `--${part} says how --${whole} works: give --${whole} too`
  }
  return {
    serverUrl: one("server-url"),
    org: one("org"),
    project: one("project"),
    env: one("env"),
    also: found.get("also") ?? [],
    only: list("only"),
    allowEnv: list("allow-env"),
    leases,
    files,
    isOverriding: !found.has("no-override"),
    isMasking: found.has("mask"),
    isChecking: found.has("check"),
    isQuiet: found.has("quiet"),
    isNonInteractive: found.has("non-interactive"),
    watch: found.has("watch") ? { interval, stopSignal, stopTimeout, signal } : undefined,
    offline: found.has("offline-fallback") ? { maxAge } : undefined
  }
}

/**
 * Takes the place off the words, which is one only before `--`: else the first word starts the command. Options may stand between
 * the two, unless a file has the name of the place: that is the command then.
 */
const readRun = (
  argv: ReadonlyArray<string>,
  exists: (path: string) => boolean
): { readonly place: string | undefined; readonly reading: Reading } => {
  const reading = readWords(runSyntax, argv, true)
  const [first, ...others] = reading.type === "words" ? reading.arguments : []
  const end = others.findIndex(({ text }) => text === "--")
  if (reading.type !== "words" || first === undefined || first.isVerbatim || end < 0 || !isPlacePath(first.text)) {
    return { place: undefined, reading }
  }
  const [between, command] = [others.slice(0, end), others.slice(end + 1)]
  if (end === 0) return { place: first.text, reading: { ...reading, arguments: command } }
  const isOnlyOptions = between[0]?.text.startsWith("-") === true && !exists(first.text)
  if (!isOnlyOptions) return { place: undefined, reading }
  const before = argv.slice(0, argv.length - reading.arguments.length)
  const all = readWords(runSyntax, [...before, ...between.map(({ text }) => text)], true)
  // An option that `run` does not have is the command's.
  const isOther = all.type === "wrong" && all.option !== undefined
  if (isOther || (all.type === "words" && all.arguments.length > 0)) return { place: undefined, reading }
  return { place: first.text, reading: all.type === "words" ? { ...all, arguments: command } : all }
}

/**
 * @param argv the arguments after `run`
 * @param exists whether a path names a file
 */
export const splitRunArgv = (
  argv: ReadonlyArray<string>,
  exists: (path: string) => boolean = process.getBuiltinModule("node:fs").existsSync
): RunArgv => {
  const wrong = (message: string): RunArgv => ({ type: "wrong", message })
  const { place, reading } = readRun(argv, exists)
  if (reading.type === "help") return reading
  if (reading.type === "wrong") {
    const mayBeCommand = reading.option !== undefined && !reading.message.endsWith("?")
    const first = mayBeCommand ? `${reading.message}; if it is the command, write -- before it` : reading.message
    return wrong([first, ...reading.others].join("; "))
  }
  const options = readOptions(reading.options)
  if (typeof options === "string") return wrong(options)
  if (place !== undefined && options.env !== undefined) {
    return wrong(`--env ${options.env} and ${place} both name the environment: leave one of them out`)
  }
  const [command, ...args] = reading.arguments.map(({ text }) => text)
  return command === undefined
    ? wrong("no command is given: write it behind the options, as in: coffer run npm start")
    : { type: "run", options: { ...options, env: place ?? options.env }, command, args }
}
