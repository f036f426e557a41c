/** The rooms of a package in layers: a room stands above the rooms that it imports. */

/** The room of modules outside of folders. */
const top = "."

/** Whether a module is an entry point: a handler, a worker or a program. */
const entriesOf = (modules) => {
  const importers = new Map([...modules.keys()].map((path) => [path, []]))
  for (const { imports, room } of modules.values()) for (const path of imports) importers.get(path)?.push(room)
  return new Set([...importers].filter(([, rooms]) => rooms.every((room) => room === top)).map(([path]) => path))
}

/** Returns the depth of each module: the longest chain of rooms below it. */
const depthsOf = (modules) => {
  const depths = new Map()
  const depthOf = (path) => {
    if (!depths.has(path)) {
      depths.set(path, 0)
      const { imports, room } = modules.get(path)
      const below = imports
        .filter((one) => modules.has(one) && modules.get(one).room !== top)
        .map((one) => depthOf(one) + (modules.get(one).room === room ? 0 : 1))
      depths.set(path, Math.max(0, ...below))
    }
    return depths.get(path)
  }
  for (const path of modules.keys()) depthOf(path)
  return depths
}

/**
 * - `features`: rooms with handlers, imported only by other features
 * - `beside`: other rooms that no room imports
 * - `rows`: the rest, from the top down; a row of one room is merged into the row above
 * - `edges`: imports between rooms, without those of entry points in a room that others import
 */
export const layersOf = (modules) => {
  const entries = entriesOf(modules)
  const depths = depthsOf(modules)
  const rooms = [...new Set([...modules.values()].map(({ room }) => room))].filter((room) => room !== top).sort()
  const pathsOf = (room) => [...modules.keys()].filter((path) => modules.get(path).room === room)
  const targetsOf = (paths) =>
    new Set(paths.flatMap((path) => modules.get(path).imports.map((one) => modules.get(one)?.room)))

  const imported = new Set(
    rooms.flatMap((room) =>
      [...targetsOf(pathsOf(room).filter((path) => !entries.has(path)))].filter((one) => one !== room)
    )
  )
  /** The imports of a room that count: all of them if no room imports it, else those outside of entry points. */
  const countedOf = (room) => {
    const shared = pathsOf(room).filter((path) => !entries.has(path))
    return shared.length === 0 || !imported.has(room) ? pathsOf(room) : shared
  }
  const depthOf = (room) => Math.max(...countedOf(room).map((path) => depths.get(path)))

  const all = new Map(rooms.map((room) => [room, targetsOf(pathsOf(room))]))
  const counted = new Map(rooms.map((room) => [room, targetsOf(countedOf(room))]))
  const importersOf = (room) => rooms.filter((one) => one !== room && counted.get(one).has(room))
  const hasHandlers = (room) => modules.has(`${room}/Http.ts`)
  const isFree = (room) => importersOf(room).length === 0 && !rooms.some((one) => room.startsWith(`${one}/`))

  const features = rooms.filter(
    (room) => hasHandlers(room) && importersOf(room).every((one) => hasHandlers(one) || isFree(one))
  )
  const beside = rooms.filter((room) => !features.includes(room) && isFree(room))
  const inner = rooms.filter((room) => !features.includes(room) && !beside.includes(room))

  const levelOf = (room) => {
    const parent = inner.find((one) => room.startsWith(`${one}/`))
    if (parent !== undefined) return levelOf(parent)
    const depth = depthOf(room)
    const above = importersOf(room).filter((one) => inner.includes(one) && depthOf(one) > depth)
    return depth === 0 || above.length === 0 ? depth : Math.min(...above.map(depthOf)) - 1
  }
  const levels = new Map(inner.map((room) => [room, levelOf(room)]))
  const rows = []
  /** The positions of the importers of a room, so that it is drawn below them. */
  const positionOf = (room) => {
    const above = importersOf(room).flatMap((one) =>
      rows.filter((row) => row.includes(one)).map((row) => row.indexOf(one))
    )
    return above.length === 0 ? rooms.length : above.reduce((sum, position) => sum + position, 0) / above.length
  }
  for (const level of [...new Set(levels.values())].sort((a, b) => b - a)) {
    const row = inner.filter((room) => levels.get(room) === level)
    row.sort((a, b) => positionOf(a) - positionOf(b))
    const above = rows.at(-1) ?? []
    // A row with one room adds nothing to an arrow between neighbours.
    if (row.length === 1 && level > 0 && above.length > 0 && above.length < 4) {
      const importer = above.findLastIndex((one) => counted.get(one).has(row[0]))
      above.splice(importer === -1 ? above.length : importer + 1, 0, ...row)
    } else rows.push(row)
  }

  /** Whether an import is against the layers: upwards, into a nested room, or mutual within a row. */
  const isUp = (from, to) => {
    if (levels.get(from) !== levels.get(to)) return levels.get(from) < levels.get(to)
    if (to.startsWith(`${from}/`)) return true
    const isMutual = counted.get(to).has(from) && !from.startsWith(`${to}/`)
    return isMutual && (depthOf(from) === depthOf(to) ? from < to : depthOf(from) < depthOf(to))
  }
  const edges = inner.flatMap((from) =>
    inner.filter((to) => to !== from && counted.get(from).has(to)).map((to) => ({ from, to, up: isUp(from, to) }))
  )
  return { features, beside, rows, edges, featureImports: (to) => features.filter((from) => all.get(from).has(to)) }
}
