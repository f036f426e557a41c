/**
 * How much dearer a request may become than in the last recorded run. Fiber steps, statements and allocations are the same on every
 * machine. Commits and the bytes of the write-ahead log depend on how many entries share a commit: over five runs on a busy
 * machine, they varied by a sixth and by a seventh. Processor time is a ratio to the hand-written server's in the same run, which
 * differs between machines: its tolerance finds what made requests dear by a half or more.
 */
export const tolerances = {
  steps: 1.03,
  statements: 1.03,
  allocated: 1.03,
  commits: 1.25,
  walBytes: 1.15,
  processor: 2
}

const kinds = Object.keys(tolerances)

/** Returns the cost of a request in each row, as it is recorded: what was counted, or its processor time. */
export const costs = (results) =>
  Object.fromEntries(
    kinds.map((kind) => [
      kind,
      Object.fromEntries(
        results.flatMap(({ counted, kind: request, processor, row }) => {
          if (kind === "processor") return processor === undefined ? [] : [[row, processor]]
          return counted?.[kind] === undefined ? [] : [[request, counted[kind]]]
        })
      )
    ])
  )

const perRow = (measured, each) =>
  kinds.flatMap((kind) => Object.entries(measured[kind] ?? {}).flatMap(([row, cost]) => each({ cost, kind, row })))

/** The rows that cost more than recorded, with both figures. A row that was never recorded is none of them. */
export const regressions = (recorded, measured) =>
  perRow(measured, ({ cost, kind, row }) => {
    const before = recorded[kind]?.[row]
    return before !== undefined && cost > before * tolerances[kind] ? [{ row, kind, before, cost }] : []
  })

/** The least of each row over several tries: noise only adds. */
const best = (tries) => {
  const least = {}
  for (const measured of tries) {
    perRow(measured, ({ cost, kind, row }) => {
      const found = (least[kind] ??= {})
      found[row] = Math.min(cost, found[row] ?? cost)
      return []
    })
  }
  return least
}

/** How often a row is measured before it counts as a regression. */
export const maxTries = 3

/** Measures until no row is a regression, at most three times. Returns what is left. */
export const findRegressions = async (recorded, measure) => {
  const tries = []
  for (;;) {
    tries.push(await measure(tries.length))
    const found = regressions(recorded, best(tries))
    if (found.length === 0 || tries.length === maxTries) return found
  }
}

/** Two records in one: the rows of the second replace those of the first. */
export const merge = (one, other) => Object.fromEntries(kinds.map((kind) => [kind, { ...one[kind], ...other[kind] }]))
