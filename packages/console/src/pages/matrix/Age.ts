import { dayMillis } from "@coffer/domain/secrets/DueState"

const units = [
  ["y", 365],
  ["mo", 30],
  ["d", 1]
] as const

/** The time since a change in a few characters, such as `3d`, `5mo` or `2y`. */
export const ageOf = (time: string, now: number): string => {
  const days = Math.floor((now - Date.parse(time)) / dayMillis)
  const [unit, size] = units.find(([, size]) => days >= size) ?? ["", 1]
  return unit === "" ? "today" : `${Math.floor(days / size)}${unit}`
}
