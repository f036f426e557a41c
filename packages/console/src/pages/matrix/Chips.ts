import type { Mark } from "./Grid.js"

/** The filters, each with the words of its chip. Those that are not always offered are where they show a row. */
export const chipWords: ReadonlyArray<readonly [mark: Mark, words: string, isAlways?: true]> = [
  ["missing", "Missing somewhere", true],
  ["equal", "Equal in production"],
  ["due", "Due"],
  ["old", "Not changed for a year"]
]
