/** No argument of a process can hold it. */
const mark = "\0"

/** The argument `-`. The parser takes that for a group of short options, and reads no option after it. */
const standardInput = mark + mark

/**
 * The words of a command line for the parser. It looks for options in every word, also after `--`: a word there that begins
 * with a hyphen gets a mark in front, which no option has.
 *
 * @param takesValue whether a word is an option that takes the next word as its value.
 */
export const markVerbatim = (
  argv: ReadonlyArray<string>,
  takesValue: (word: string) => boolean
): ReadonlyArray<string> => {
  const found = argv.indexOf("--")
  const dashes = found < 0 ? argv.length : found
  return argv.map((word, index) => {
    if (index > dashes) return word.startsWith("-") ? mark + word : word
    return word === "-" && !takesValue(argv[index - 1] ?? "") ? standardInput : word
  })
}

/** Whether a word is the argument `-`, and not a `-` after `--`. */
export const isStandardInput = (word: string): boolean => word === standardInput

/** A word as it was on the command line. */
export const unmark = (word: string): string => {
  if (isStandardInput(word)) return "-"
  return word.startsWith(mark) ? word.slice(mark.length) : word
}
