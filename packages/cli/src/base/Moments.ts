/** A moment as people read it: 2026-01-31 12:00 UTC. Options that take a moment take this form too. */
export const momentText = (moment: Date | string): string => {
  const millis = new Date(moment).getTime()
  if (Number.isNaN(millis)) return String(moment)
  const [day, time = ""] = new Date(millis).toISOString().split("T")
  return `${day} ${time.slice(0, 5)} UTC`
}

/** A moment of the API as a cell of a table: programs get it whole. */
export const momentCell = (moment: string | null | undefined): Date | string | undefined => {
  if (moment === null || moment === undefined) return undefined
  const date = new Date(moment)
  return Number.isNaN(date.getTime()) ? moment : date
}
