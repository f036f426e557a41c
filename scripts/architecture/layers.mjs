/** The rooms of the server in their order: a room imports only itself and the rooms before it. */
export const layers = [
  "base",
  "database",
  "http",
  "keys",
  "audit",
  "access",
  "directory",
  "secrets",
  "edges",
  "operations"
]

/** The room of a module: the first folder of its path. */
export const roomOf = (path) => path.split("/")[0]

/** Returns the imports that run back: from a room to a later one, or to a module outside of the rooms. */
export const importsBack = (modules) =>
  [...modules].flatMap(([path, { imports }]) => {
    const from = layers.indexOf(roomOf(path))
    return from === -1
      ? []
      : imports.filter((to) => !layers.slice(0, from + 1).includes(roomOf(to))).map((to) => [path, to])
  })
