const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60]
] as const

/** A span of seconds in words, such as `8 hours`. */
export const spanText = (seconds: number): string => {
  const [unit, size] = units.find(([, size]) => seconds >= size && seconds % size === 0) ?? (["second", 1] as const)
  const count = seconds / size
  return `${count.toLocaleString("en")} ${unit}${count === 1 ? "" : "s"}`
}
