/** The secrets of each environment. */
export type Seed = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface TestServerOptions {
  /** The server's program with its first arguments. By default that of `@coffer/server`, which must be installed. */
  readonly command?: readonly [string, ...Array<string>]
  /** More variables of its process, such as `SERVICE_LOG_LEVEL`. */
  readonly env?: Readonly<Record<string, string>>
}

/** What a process of a test's server sees of the environment: nothing that could point it at another server's data. */
export const processVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]]
    )
  )
