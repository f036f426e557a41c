/** A worker that served for so long has not failed at its start. */
const stableMillis = 60_000
const firstMillis = 1_000
const longestMillis = 30_000

/**
 * Decides when a worker is replaced: at once, but later the more workers in a row ended within a minute. Returns the delay for one
 * that served for so long.
 */
export const makeRestarts = () => {
  let failures = 0
  return (servedMillis: number): number => {
    if (servedMillis >= stableMillis) failures = 0
    const delay = failures === 0 ? 0 : Math.min(longestMillis, firstMillis * 2 ** (failures - 1))
    failures++
    return delay
  }
}
