/** The rooms of each package in their order: a room imports only itself and the rooms before it. */
export const layers = {
  domain: [
    ...[
      "base",
      "errors",
      "directory",
      "access",
      "secrets",
      "requests",
      "audit",
      "formats",
      "guides",
      "server",
      "archive",
      "api"
    ]
  ],
  server: [...["base", "database", "http", "keys", "audit", "access", "directory", "secrets", "edges", "operations"]],
  cli: [
    ...["base", "terminal", "output", "grammar", "changes", "subjects", "formats", "program", "completion", "archive"],
    ...["run", "proxy", "secrets", "commands"]
  ],
  console: ["routing", "state", "client", "kit", "staging", "pages", "palette", "shell"]
}

/** The room of a module: the first folder of its path. */
export const roomOf = (path) => path.split("/")[0]

/** Returns the imports of a package that run back: from a room to a later one, or to a module outside of the rooms. */
export const importsBack = (name, modules) =>
  [...modules].flatMap(([path, { imports }]) => {
    const from = layers[name].indexOf(roomOf(path))
    return from === -1
      ? []
      : imports
          .filter((to) => !to.startsWith("../") && !layers[name].slice(0, from + 1).includes(roomOf(to)))
          .map((to) => [path, to])
  })
