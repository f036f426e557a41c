/** No argument of a process can hold it. */
const mark = "\0"

/**
 * The words of a command line for the parser. The parser looks for its options in every word, also behind `--`: a word there
 * that begins with a hyphen gets a mark in front, which no option has.
 */
export const markVerbatim = (argv: ReadonlyArray<string>): ReadonlyArray<string> => {
  const dashes = argv.indexOf("--")
  if (dashes < 0) return argv
  const verbatim = argv.slice(dashes + 1).map((word) => (word.startsWith("-") ? mark + word : word))
  return [...argv.slice(0, dashes + 1), ...verbatim]
}

export const isVerbatim = (word: string): boolean => word.startsWith(mark)

/** A word as it was on the command line. */
export const unmark = (word: string): string => (isVerbatim(word) ? word.slice(mark.length) : word)
