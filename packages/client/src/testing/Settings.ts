/** What a process of a test's server sees of the environment: nothing that could point it at another server's data. */
export const processVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]]
    )
  )
