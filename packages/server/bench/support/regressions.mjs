/**
 * How much more processor time a request may take than in the last recorded run. Both times are ratios to the hand-written
 * server in the same run, which other programs on the machine slow down alike.
 */
export const tolerance = 1.25

/** The processor times of the results by their row, as they are recorded. */
export const processorTimes = (results) =>
  Object.fromEntries(results.flatMap(({ processor, row }) => (processor === undefined ? [] : [[row, processor]])))

/** The rows that take more processor time than recorded, with both ratios. A row that was never recorded is none of them. */
export const regressions = (recorded, measured) =>
  Object.entries(measured).flatMap(([row, processor]) => {
    const before = recorded[row]
    return before !== undefined && processor > before * tolerance ? [{ row, before, processor }] : []
  })

/** The least of each row over several tries: noise only adds processor time. */
const best = (tries) => {
  const least = {}
  for (const times of tries) {
    for (const [row, processor] of Object.entries(times)) least[row] = Math.min(processor, least[row] ?? processor)
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
