/**
 * The command line of `coffer run`, split before any parser sees it: the first argument that is not an option of `run`
 * starts the command, and from there on nothing is looked at. Loads nothing, so that `run` starts fast.
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

export interface RunOptions {
  readonly serverUrl: string | undefined
  readonly org: string | undefined
  readonly project: string | undefined
  readonly env: string | undefined
  readonly only: ReadonlyArray<string>
  readonly allowEnv: ReadonlyArray<string>
}

/** The options of `run`; each takes a value. */
export const runOptions = {
  "server-url": "The server's address",
  org: "The organization",
  project: "The project",
  env: "The environment",
  only: "Only these keys, separated by commas",
  "allow-env": "Pass on this key although its name makes other programs run code; may be given again"
} as const

type Name = keyof typeof runOptions

const isName = (text: string): text is Name => Object.hasOwn(runOptions, text)

const lists = new Set<Name>(["only", "allow-env"])

/** @param argv what stands behind `run`. */
export const splitRunArgv = (argv: ReadonlyArray<string>): RunArgv => {
  const wrong = (message: string): RunArgv => ({ type: "wrong", message })
  const found = new Map<Name, Array<string>>()
  const result = (rest: ReadonlyArray<string>): RunArgv => {
    const [command, ...args] = rest
    if (command === undefined)
      return wrong("no command is given: write it behind the options, as in: coffer run -- npm start")
    const list = (name: Name) => (found.get(name) ?? []).flatMap((text) => text.split(","))
    const options = {
      serverUrl: found.get("server-url")?.[0],
      org: found.get("org")?.[0],
      project: found.get("project")?.[0],
      env: found.get("env")?.[0],
      only: list("only"),
      allowEnv: list("allow-env")
    }
    return { type: "run", options, command, args }
  }
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? ""
    if (argument === "--") return result(argv.slice(at + 1))
    if (!argument.startsWith("-") || argument === "-") return result(argv.slice(at))
    if (argument === "--help" || argument === "-h") return { type: "help" }
    const [flag = "", ...inline] = argument.split("=")
    const name = flag.slice(2)
    if (!flag.startsWith("--") || !isName(name)) {
      return wrong(`${flag} is not an option of coffer run; if it is the command, write -- before it`)
    }
    const value = inline.length > 0 ? inline.join("=") : argv[++at]
    if (value === undefined || value === "") return wrong(`--${name} needs a value`)
    const values = found.get(name) ?? []
    if (values.length > 0 && !lists.has(name)) return wrong(`--${name} is given twice`)
    found.set(name, [...values, value])
  }
  return result([])
}
