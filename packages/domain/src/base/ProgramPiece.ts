/** Pods that sign in to an account. */
export interface Pods {
  readonly namespace: string
  readonly serviceAccount: string
  readonly audience: string
}

export interface ProgramUse {
  readonly server: string
  readonly org: string
  readonly account: string
  readonly project: string
  readonly env: string
  /** Whether the account has a key. */
  readonly hasKey: boolean
  /** The pods that sign in already. Without them, the lines let those of an example sign in. */
  readonly trusted?: Pods
}

/** A file, a command or the fields of a form, and what to do with them. */
export interface ProgramPiece {
  readonly what: string
  readonly lines: string
}

export const piece = (what: string, ...lines: ReadonlyArray<string>): ProgramPiece => ({
  what,
  lines: `${lines.join("\n")}\n`
})

/** JSON strings are YAML and TOML too. */
export const quoted = (text: string) => JSON.stringify(text)

/** A word of a shell. The names of accounts alone can hold what a shell splits. */
export const word = (text: string) => (text.includes(" ") ? `'${text}'` : text)

export const roleOf = ({ account, org }: ProgramUse) => `${org}/${account}`
