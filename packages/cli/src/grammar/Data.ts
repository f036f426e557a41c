import { pathForms } from "./PlacePath.js"

/**
 * A kind of name that the completions ask the server for. `project-path`, `env-path` and `place` may stand with the names
 * above them, as `PlacePath.ts` reads them; `place` needs a slash. `keys` are separated by commas. The last two lines are
 * other lists of an organization or the server; `federation`, `delivery` and `use-rule` follow the argument that names their owner.
 */
export const nameKinds = [
  ...(["org", "project", "env", "project-path", "env-path", "place", "key", "keys"] as const),
  ...(["member", "group", "account", "who", "rule", "rule-or-who", "webhook", "federation"] as const),
  ...(["request", "approval", "export", "waiting", "session", "backup", "delivery", "use-rule"] as const)
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
  /** The names of other options: where one of them is given, this one is not required. */
  readonly unless?: ReadonlyArray<string>
  readonly isRepeatable?: boolean
  readonly check?: Check
  /** The names that complete its value. */
  readonly names?: NameKind
  /** Whether it is an old form: it is read as ever, and no help and no completion shows it. */
  readonly isOld?: boolean
  /** Whether many commands have it: it comes after a command's own in the help. */
  readonly isCommon?: boolean
}

/** The short options. Each is short for the option of this name, where a command has one. */
const shortNames: Readonly<Record<string, string>> = {
  org: "o",
  project: "p",
  env: "e",
  json: "j",
  yes: "y",
  quiet: "q",
  file: "f"
}

/** The letter of an option; undefined for one that is always written in full. */
export const shortOf = (name: string): string | undefined => shortNames[name]

const longNames: ReadonlyMap<string, string> = new Map(
  Object.entries(shortNames).map(([name, letter]) => [`-${letter}`, name])
)

/** The name of the option that a word such as `-e` is short for. */
export const longOf = (word: string): string | undefined => longNames.get(word)

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
  /** The names of old options: where one of them is given, it stands in the place of this argument. */
  readonly instead?: ReadonlyArray<string>
}

/** The description of the option `--yes` of commands that destroy something. */
export const destroysWithout = "Do not ask, where something is destroyed"

/** The options that the help shows: without old forms. */
export const shownOptions = ({ options }: Syntax): ReadonlyArray<OptionData> =>
  options.filter(({ isOld }) => isOld !== true)

/** The options and arguments of a command. */
export interface Syntax {
  readonly options: ReadonlyArray<OptionData>
  readonly arguments: ReadonlyArray<ArgumentData>
}

const text = (name: string, description: string): OptionData => ({ kind: "option", name, description, value: "text" })

const common = (data: OptionData): OptionData => ({ ...data, isCommon: true })

const named = (names: NameKind, name: string, description: string): OptionData => ({
  ...text(name, description),
  names
})

/** The options that name the server and the place. */
export const placeOptions = {
  serverUrl: common(text("server-url", "The server's address (SERVICE_SERVER_URL, server_url)")),
  org: common(named("org", "org", "The organization (SERVICE_ORG, org)")),
  project: common(named("project-path", "project", `The project, or ${pathForms.project} (SERVICE_PROJECT, project)`)),
  env: common(named("env-path", "env", `The environment, or ${pathForms.env} (SERVICE_ENV, env)`))
} as const
