/** How often the clock was looked at meanwhile. The clock stands still, so that no slice ends: its end is one more look. */
export const looksOf = async (work: () => Promise<unknown>): Promise<number> => {
  const { now } = performance
  let looks = 0
  performance.now = () => {
    looks++
    return 0
  }
  await work().finally(() => {
    performance.now = now
  })
  return looks
}
