/** Variables that make other programs run code, or that hold the client's own credential. */
const dangerous =
  /^(PATH|IFS|ENV|BASH_ENV|LD_.*|DYLD_.*|NODE_OPTIONS|PYTHONSTARTUP|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS|GIT_SSH_COMMAND|GIT_CONFIG_.*|SERVICE_API_KEY|SERVICE_API_KEY_FILE)$/

/** The client's own credential: a command has no business with it. */
const own = new Set(["SERVICE_API_KEY", "SERVICE_API_KEY_FILE"])

export interface PlainSecret {
  readonly key: string
  readonly value: string
}

export interface ChildEnvironment {
  readonly env: Readonly<Record<string, string>>
  /** Keys that no variable can be called. */
  readonly unnameable: ReadonlyArray<string>
  /** Keys that were left out for what they do. */
  readonly dangerous: ReadonlyArray<string>
  /** Keys whose value no variable can have. */
  readonly withNul: ReadonlyArray<string>
}

/** The environment of the command: the inherited one, with the secrets over it. */
export const childEnvironment = (
  inherited: Readonly<Record<string, string | undefined>>,
  secrets: ReadonlyArray<PlainSecret>,
  allowed: ReadonlySet<string>
): ChildEnvironment => {
  // A map and not an object: a variable may be called `__proto__`.
  const env = new Map<string, string>()
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !own.has(name)) env.set(name, value)
  }
  const leftOut = { unnameable: Array.of<string>(), dangerous: Array.of<string>(), withNul: Array.of<string>() }
  for (const { key, value } of secrets) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) leftOut.unnameable.push(key)
    else if (dangerous.test(key) && !allowed.has(key)) leftOut.dangerous.push(key)
    else if (value.includes("\0")) leftOut.withNul.push(key)
    else env.set(key, value)
  }
  return { env: Object.fromEntries(env), ...leftOut }
}
