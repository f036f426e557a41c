/** A response has its time in whole seconds, and takes a while: a smaller difference is none. */
const tolerated = 5_000

const ownMillis = (): number => performance.timeOrigin + performance.now()

/** How far the clock of this machine is behind the server's: it may be wrong, and stands while the machine sleeps. */
let behind = 0

/** Notes the header Date of a response. */
export const noteServerTime = (date: string | null): void => {
  const difference = Date.parse(date ?? "") - ownMillis()
  if (Number.isNaN(difference)) return
  behind = Math.abs(difference) < tolerated ? 0 : difference
}

/** The current time as the server has it, in milliseconds since 1970. */
export const wallMillis = (): number => ownMillis() + behind
