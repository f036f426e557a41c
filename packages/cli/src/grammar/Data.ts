import { pathForms } from "./PlacePath.js"

/** What the parser, the help, the messages and the completions know about an option. */
export interface OptionData {
  readonly kind: "option"
  /** The name without hyphens. */
  readonly name: string
  readonly description: string
  /** What its value is, in a word; none for an option without a value. */
  readonly value?: string
  /** Whether the value can be left out. If given, it stands after `=`. */
  readonly isValueOptional?: boolean
  /** The values of a choice. */
  readonly choices?: ReadonlyArray<string>
  readonly isRequired?: boolean
  readonly isRepeatable?: boolean
}

export interface ArgumentData {
  readonly kind: "argument"
  readonly name: string
  readonly description: string
  readonly choices?: ReadonlyArray<string>
  /** How many of them there must be, and can be. */
  readonly least: number
  readonly most: number
  /** Whether it may be a secret value: no message shows it, and it may begin with a hyphen. */
  readonly isSecret?: boolean
}

/** The options and arguments of a command. */
export interface Syntax {
  readonly options: ReadonlyArray<OptionData>
  readonly arguments: ReadonlyArray<ArgumentData>
}

const text = (name: string, description: string): OptionData => ({ kind: "option", name, description, value: "text" })

/** The options that name the server and the place. */
export const placeOptions = {
  serverUrl: text("server-url", "The server's address (SERVICE_SERVER_URL, server_url)"),
  org: text("org", "The organization (SERVICE_ORG, org)"),
  project: text("project", `The project, or ${pathForms.project} (SERVICE_PROJECT, project)`),
  env: text("env", `The environment, or ${pathForms.env} (SERVICE_ENV, env)`)
} as const
