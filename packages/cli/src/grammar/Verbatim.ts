import type { Word, Words } from "./Words.js"

/** No argument of a process can hold it. */
const mark = "\0"

/**
 * The command line for the parser: each word that is no option's name gets a mark in front, because the parser looks for
 * options in every word.
 */
export const markWords = (words: Words): ReadonlyArray<string> => [
  ...[...words.options].flatMap(([name, values]) =>
    values.length === 0 ? [`--${name}`] : values.flatMap((value) => [`--${name}`, mark + value])
  ),
  ...words.arguments.map(({ isVerbatim, text }) => (isVerbatim ? mark + mark : mark) + text)
]

/** A word as it was on the command line. */
export const unmark = (word: string): Word => {
  if (word.startsWith(mark + mark)) return { text: word.slice(2), isVerbatim: true }
  return { text: word.startsWith(mark) ? word.slice(1) : word, isVerbatim: false }
}
