import { pathForms } from "./PlacePath.js"

/**
 * A kind of name that the completions ask the server for. `project-path`, `env-path` and `place` may stand with the names
 * above them, as `PlacePath.ts` reads them; `place` needs a slash. `keys` are separated by commas. The last two lines are
 * other lists of an organization or the server; `federation`, `delivery` and `use-rule` follow the argument that names their owner.
 */
export const nameKinds = [
  ...(["org", "project", "env", "project-path", "env-path", "place", "key", "keys"] as const),
  ...(["member", "group", "account", "rule", "webhook", "federation"] as const),
  ...(["request", "approval", "export", "session", "backup", "delivery", "use-rule"] as const)
] as const
export type NameKind = (typeof nameKinds)[number]

/** Returns the problem with a value, in a sentence that begins with the name of its option or argument. */
type Check = (text: string) => string | undefined

/** The data about an option for the parser, the help, the messages and the completions. */
export interface OptionData {
  readonly kind: "option"
  /** The name without hyphens. */
  readonly name: string
  readonly description: string
  /** The type of its value, in a word. Absent for an option without a value. */
  readonly value?: string
  /** Whether the value can be left out. If given, it stands after `=`. */
  readonly isValueOptional?: boolean
  /** Whether an optional value may also be the next word. Only for a command without arguments. */
  readonly isValueNext?: boolean
  /** The values of a choice. */
  readonly choices?: ReadonlyArray<string>
  readonly isRequired?: boolean
  readonly isRepeatable?: boolean
  readonly check?: Check
  /** The names that complete its value. */
  readonly names?: NameKind
}

export interface ArgumentData {
  readonly kind: "argument"
  readonly name: string
  readonly description: string
  readonly choices?: ReadonlyArray<string>
  /** How many of them there must be, and can be. */
  readonly least: number
  readonly most: number
  readonly check?: Check
  /** Whether it may be a secret value: no message shows it, and it may begin with a hyphen. */
  readonly isSecret?: boolean
  /** The names that complete it. */
  readonly names?: NameKind
}

/** The description of the option `--yes` of commands that destroy something. */
export const destroysWithout = "Do not ask, where something is destroyed"

/** The options and arguments of a command. */
export interface Syntax {
  readonly options: ReadonlyArray<OptionData>
  readonly arguments: ReadonlyArray<ArgumentData>
}

const text = (name: string, description: string): OptionData => ({ kind: "option", name, description, value: "text" })

const named = (names: NameKind, name: string, description: string): OptionData => ({
  ...text(name, description),
  names
})

/** The options that name the server and the place. */
export const placeOptions = {
  serverUrl: text("server-url", "The server's address (SERVICE_SERVER_URL, server_url)"),
  org: named("org", "org", "The organization (SERVICE_ORG, org)"),
  project: named("project-path", "project", `The project, or ${pathForms.project} (SERVICE_PROJECT, project)`),
  env: named("env-path", "env", `The environment, or ${pathForms.env} (SERVICE_ENV, env)`)
} as const
